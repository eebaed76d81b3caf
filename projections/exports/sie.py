"""Writes a journal as SIE 4I, the import format of Swedish accounting programs: CP437, one currency, no balances."""

from collections.abc import Iterator

from projections.journal import Account, Journal, JournalEntry, accounts, decimal, member_of
from projections.transliterate import transliterated

ENCODING = "cp437"
MEMBERS = 20
"""Members' dimension: the first number that the standard does not use."""
SERIES = "K"
TITLES = {
    "cash": "Kassa",
    "bank": "Bank",
    "members": "Medlemmar",
    "pot": "Pott",
    "fees": "Avgifter",
    "opening": "Ingående saldon",
}
KINDS = {
    "match": "Match",
    "deposit": "Insättning",
    "payout": "Uttag",
    "pay": "Betalning",
    "fee": "Avgift",
    "opening": "Ingående saldo",
    "reverse": "Rättelse",
}


def write(journal: Journal) -> bytes:
    """Return the file. Raises: ValueError unless the journal has one currency."""
    if len(journal.currencies) != 1:
        raise ValueError("a SIE file holds one currency")
    return b"".join(line.encode(ENCODING) + b"\r\n" for line in _lines(journal))


def _lines(journal: Journal) -> Iterator[str]:
    yield "#FLAGGA 0"
    yield '#PROGRAM "Knacka" 1'
    yield "#FORMAT PC8"
    yield f"#GEN {journal.made:%Y%m%d}"
    yield "#SIETYP 4"
    yield f"#FNAMN {quoted(journal.club)}"
    yield f"#VALUTA {journal.currencies[0]}"
    for number, titles in _numbers(journal).items():
        yield f"#KONTO {number} {quoted(', '.join(titles))}"
    yield f'#DIM {MEMBERS} "Medlem"'
    for account in accounts(journal):
        if (member := member_of(account)) is not None:
            yield f'#OBJEKT {MEMBERS} "{member}" {quoted(journal.names.get(member) or "", f"Medlem {member}")}'
    for entry in journal.entries:
        yield f"#VER {quoted(SERIES)} {entry.number} {entry.date:%Y%m%d} {quoted(_narration(entry))}"
        yield "{"
        for posting in entry.postings:
            yield f"#TRANS {_sie_account(journal, posting.account)} {decimal(posting.amount)}"
        yield "}"


def _numbers(journal: Journal) -> dict[str, list[str]]:
    """Return the titles by four-digit account, in ascending order."""
    numbers: dict[str, list[str]] = {}
    for role, title in TITLES.items():
        numbers.setdefault(getattr(journal.sie, role), []).append(title)
    return dict(sorted(numbers.items()))


def _sie_account(journal: Journal, account: Account) -> str:
    member = member_of(account)
    if member is None:
        return f"{getattr(journal.sie, account)} {{}}"
    return f'{journal.sie.members} {{{MEMBERS} "{member}"}}'


def _narration(entry: JournalEntry) -> str:
    evening = f", kväll {entry.evening}" if entry.evening is not None else ""
    reverses = f", rättar {entry.reverses}" if entry.reverses is not None else ""
    text = f", {entry.text}" if entry.text.strip() else ""
    return f"{KINDS.get(entry.kind, entry.kind)}{evening}{reverses}, {entry.cause}{text}"


def quoted(text: str, otherwise: str = "") -> str:
    """Return a text in quotes and in CP437, with ``?`` for unknown letters; ``otherwise`` if it is empty."""
    # Backslashes are replaced, because the standard does not escape them.
    written = transliterated(text.replace("\\", "/"), _is_in_cp437, "?") or otherwise
    return '"' + written.replace('"', '\\"') + '"'


def _is_in_cp437(letter: str) -> bool:
    try:
        letter.encode(ENCODING)
    except UnicodeEncodeError:
        return False
    return letter.isprintable()
