"""Checks that no name or text is changed, missing, or left after an erasure."""

from collections.abc import Iterator, Mapping
from uuid import UUID

import msgspec

from api.maintenance.raw_store import StoreReader
from api.maintenance.replay_check import History
from api.personal_data.erasures import Redactions, combined_changes
from api.personal_data.names import Origin, ref_of
from referee.clubs.facts import MemberErased, PayeeSet
from referee.store.club import Club
from referee.store.match import Match


def changed_texts(stored: StoreReader) -> Iterator[str]:
    """Yield a line for each text that does not match its ref or, after an erasure, its replacement's ref."""
    for ref, salt, text, redacted, club, match, member, kind in stored.texts():
        try:
            origin = Origin(UUID(str(club)), None if match is None else UUID(str(match)), member, kind)
            intact = ref_of(salt, msgspec.json.decode(text, type=str), origin) == (redacted or ref)
        except (msgspec.MsgspecError, TypeError, ValueError):
            intact = False
        if not intact:
            yield f"text {ref}: it was changed or moved after it was stored: restore it from a backup"


class _ErasureRow(msgspec.Struct):
    event: MemberErased


class TextCheck:
    def __init__(self, stored: StoreReader) -> None:
        self._stored = stored
        self._changes: dict[UUID, Redactions] = {}
        """Changes by the recorded erasures, by club."""

    def compare(self, history: History, refs: Mapping[str, int]) -> None:
        """Report wrong texts to ``history``, if all rows were readable.

        ``refs``: the refs in its rows, each with the number of its first row.
        """
        if isinstance(history.aggregate, Club):
            self._compare_club(history, history.aggregate)
        elif isinstance(history.aggregate, Match) and history.aggregate.opened.club is not None:
            self._compare_match(history, history.aggregate.opened.club, refs)

    def _compare_club(self, history: History, club: Club) -> None:
        """Report missing names and payment numbers, and what does not agree with the recorded erasures.

        Report nothing if an erasure was recorded during the check.
        """
        stored, members = self._stored, club.state.members
        payees = (club.state.payee, *(member.payee for member in members))
        numbers = [ref for payee in payees for ref in (payee.swish, payee.iban) if ref is not None]
        found, lists = stored.replacements(club.id), stored.changes_by_erasure(club.id)
        erased = combined_changes(club.state.erasures, lists)
        wrong = []
        if not found.keys() >= set(numbers) and not stored.has_event_after(club.id.hex, club.version, PayeeSet.TOPIC):
            wrong.append("a payment number is missing without a recorded erasure")
        for number, member in enumerate(members, 1):
            kept = found.keys() & set(member.names)
            if member.erased and kept:
                wrong.append(f"member {number} is erased but still has a name: run `knacka erase {club.id} {number}`")
            elif not member.erased and len(kept) < len(set(member.names)):
                wrong.append(f"member {number}: a name is missing without a recorded erasure")
        if len(lists.keys() & set(club.state.erasures)) < len(set(club.state.erasures)):
            wrong.append("the list of an erasure's changes is missing, or differs from the recorded digest")
        for ref, redacted in sorted(found.items()):
            if ref in erased and erased[ref] != redacted:
                wrong.append(f"text {ref}: its erasure is recorded but was not carried out")
            elif ref not in erased and redacted is not None:
                wrong.append(f"text {ref}: it was replaced without a recorded erasure")
        if wrong and not stored.has_event_after(club.id.hex, club.version, MemberErased.TOPIC):
            for what in wrong:
                history.report(0, what)

    def _compare_match(self, history: History, club: UUID, refs: Mapping[str, int]) -> None:
        """Report each missing text that no recorded erasure has deleted."""
        missing = refs.keys() - self._stored.refs(club, list(refs))
        if missing - self._deleted_refs(club, reload=False):
            missing -= self._deleted_refs(club, reload=True)
            for ref in sorted(missing, key=refs.__getitem__):
                history.report(refs[ref], f"text {ref} is missing without a recorded erasure")

    def _deleted_refs(self, club: UUID, *, reload: bool) -> set[str]:
        if reload or club not in self._changes:
            rows = self._stored.rows_of_topic(club.hex, MemberErased.TOPIC)
            erasures = [msgspec.json.decode(row, type=_ErasureRow).event.texts for row in rows]
            self._changes[club] = combined_changes(erasures, self._stored.changes_by_erasure(club))
        return {ref for ref, redacted in self._changes[club].items() if redacted is None}
