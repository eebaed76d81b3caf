"""Names and texts proved beside the rows that have their refs: none was exchanged, none is missing, none is left."""

from collections.abc import Iterator

import msgspec

from api.names import ref_of
from api.ops.proof import History
from api.ops.stored import Stored
from referee.clubs.facts import MemberErased
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
    """Says which members of a club have no name, or have one still. Asked after its rows were read, for each name is
    put before its event; and who was erased since is passed over."""
    club = history.aggregate
    if not isinstance(club, Club):
        return
    members = club.standing.members
    found = stored.refs([ref for member in members for ref in member.names])
    wrong = []
    for number, member in enumerate(members, 1):
        kept = found.intersection(member.names)
        if member.erased and kept:
            wrong.append(f"member {number} is erased, and has a name still: `knacka erase {club.id} {number}`")
        elif not member.erased and len(kept) < len(set(member.names)):
            wrong.append(f"member {number}: a name is missing, and no erasure is on record")
    if wrong and not stored.has_come_since(club.id.hex, club.version, MemberErased.TOPIC):
        for what in wrong:
            history.say(0, what)
