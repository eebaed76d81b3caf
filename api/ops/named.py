"""Names and texts proved beside the rows that have their refs: none was exchanged, none is missing, none is left."""

from collections.abc import Iterator

import msgspec

from api.names import ref_of
from api.ops.proof import History
from api.ops.stored import Stored
from referee.clubs.facts import MemberErased, PayeeSet
from referee.store.club import Club


def exchanged(stored: Stored) -> Iterator[str]:
    """Says which texts are not those that were put."""
    for ref, salt, text in stored.texts():
        try:
            whole = ref_of(salt, msgspec.json.decode(text, type=str)) == ref
        except (msgspec.MsgspecError, TypeError, ValueError):
            whole = False
        if not whole:
            yield f"text {ref}: it is not the one that was put"


def compare_names(stored: Stored, history: History) -> None:
    """Says which members of a club have no name, or have one still, and whether a number lacks. Asked after its rows
    were read, for each name is put before its event; and what was erased or replaced since is passed over."""
    club = history.aggregate
    if not isinstance(club, Club):
        return
    members = club.standing.members
    payees = (club.standing.payee, *(member.payee for member in members))
    numbers = [ref for payee in payees for ref in (payee.swish, payee.iban) if ref is not None]
    found = stored.refs([*(ref for member in members for ref in member.names), *numbers])
    wrong = []
    if not found.issuperset(numbers) and not stored.has_come_since(club.id.hex, club.version, PayeeSet.TOPIC):
        wrong.append("a number by which somebody is paid is missing, and no erasure is on record")
    for number, member in enumerate(members, 1):
        kept = found.intersection(member.names)
        if member.erased and kept:
            wrong.append(f"member {number} is erased, and has a name still: `knacka erase {club.id} {number}`")
        elif not member.erased and len(kept) < len(set(member.names)):
            wrong.append(f"member {number}: a name is missing, and no erasure is on record")
    if wrong and not stored.has_come_since(club.id.hex, club.version, MemberErased.TOPIC):
        for what in wrong:
            history.say(0, what)
