"""A statement of account: what was written on an account, and what stood there after it."""

from collections.abc import Iterator
from decimal import Decimal
from html import escape
from importlib.resources import files as resources
from typing import Annotated

import msgspec

from api.docs.pages import framed, policy_of_framed
from api.money.ledger_access import LINES_MAX, Cause, Day
from api.runtime.proofs import HashText
from projections.journal import decimal
from projections.spreadsheets import table
from referee import wire_types
from referee.clubs.facts import Account, EntryKind, Ref
from referee.log.facts import LogSize
from referee.sentences import Language, Text
from referee.value import Value

COLUMNS = ("entry", "date", "kind", "amount", "balance", "evening", "reverses", "cause")


class Words(Value, forbid_unknown_fields=True):
    """The words of a statement, by code."""

    words: dict[str, Text]
    kinds: dict[str, Text]


WORDS = msgspec.toml.decode((resources("api.docs") / "statement_page.toml").read_bytes(), type=Words)
"""``statement_page.toml`` is for a translator to read and change."""


class StatementLine(Value):
    """What an entry wrote on the account."""

    number: wire_types.EntryNumber
    """The entry."""
    date: Day
    """On the club's clock."""
    kind: EntryKind
    amount: wire_types.Money
    """Debit above zero, credit below."""
    balance: wire_types.Money
    """What stands on the account after it."""
    evening: wire_types.EveningNumber | None
    """Of the club's evenings the one that it belongs to; null: none."""
    cause: Cause
    """The event that made the entry."""
    reverses: wire_types.EntryNumber | None
    """The entry that it takes back; null: none."""


class Checkpointed(Value):
    """How large the log was when it was signed last, and its root: who keeps them can be shown later that nothing
    before that was changed."""

    size: LogSize
    """Rows."""
    root: HashText
    """The root of the tree over them."""


class Statement(Value):
    """What was written on an account in a currency: ``before`` plus the amounts gives ``after``."""

    club: wire_types.Name
    """What the club is called."""
    account: Account
    name: Ref | None
    """Whose account it is; null: the club's own."""
    currency: wire_types.Currency
    before: wire_types.Money
    """What stood there before the first of these lines."""
    lines: Annotated[tuple[StatementLine, ...], wire_types.at_most(LINES_MAX)]
    """By number."""
    after: wire_types.Money
    """What stands there after the last of them."""
    next: wire_types.EntryNumber | None
    """What to give as `after` for more lines; null: these are the last."""
    checkpoint: Checkpointed | None
    """The last checkpoint of the log, for who keeps the statement; null: nothing is signed here, or not yet."""


def csv(statement: Statement) -> bytes:
    """The lines as CSV after RFC 4180, amounts with two decimals after a point."""
    rows = (
        [
            one.number,
            one.date,
            one.kind,
            Decimal(decimal(one.amount)),
            Decimal(decimal(one.balance)),
            one.evening,
            one.reverses,
            one.cause,
        ]
        for one in statement.lines
    )
    return table(COLUMNS, rows).encode()


def policy() -> str:
    """What the page may load: nothing but its style."""
    return policy_of_framed("statement")


def page(statement: Statement, language: Language) -> bytes:
    """The statement as a page to be read or printed: HTML without a script, in which every text is only text."""

    def word(code: str) -> str:
        return escape(WORDS.words[code].in_(language))

    whose = statement.account if statement.name is None else f"{statement.name} ({statement.account})"
    title = WORDS.words["title"].in_(language).replace("{account}", whose)
    terms = {"club": statement.club, "account": whose, "currency": statement.currency}
    heads = ("number", "date", "kind", "amount", "balance", "cause")
    body = [
        f"<h1>{escape(title)}</h1>",
        "<dl>" + "".join(f"<dt>{word(code)}</dt><dd>{escape(what)}</dd>" for code, what in terms.items()) + "</dl>",
        *([] if statement.name is None else [f"<p>{word('signs')}</p>"]),
        "<table><thead><tr>" + "".join(f"<th>{word(code)}</th>" for code in heads) + "</tr></thead><tbody>",
        _sum(word("before"), statement.before),
        *(_row(one, language) for one in statement.lines),
        _sum(word("after"), statement.after),
        "</tbody></table>",
        *_checkpoint(statement.checkpoint, word("checkpoint")),
    ]
    return framed("statement", language, title, "\n".join(body))


def _checkpoint(signed: Checkpointed | None, what: str) -> Iterator[str]:
    if signed is not None:
        yield f"<p>{what.replace('{size}', str(signed.size)).replace('{root}', escape(signed.root))}</p>"


def _sum(what: str, amount: int) -> str:
    return f'<tr><td></td><td></td><td>{what}</td><td></td><td class="sum">{decimal(amount)}</td><td></td></tr>'


def _row(line: StatementLine, language: Language) -> str:
    what = WORDS.kinds[line.kind].in_(language)
    if line.reverses is not None:
        what += f" ({WORDS.words['reverses'].in_(language).replace('{entry}', str(line.reverses))})"
    amounts = "".join(f'<td class="sum">{decimal(one)}</td>' for one in (line.amount, line.balance))
    cause = f'<td class="cause">{escape(line.cause)}</td>'
    return f"<tr><td>{line.number}</td><td>{line.date}</td><td>{escape(what)}</td>{amounts}{cause}</tr>"
