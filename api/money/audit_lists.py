"""The tables of the printable audit."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from api.money.audit_report import Audit, KeyAudited
from api.money.audit_texts import PageTexts
from projections.audit.history import LISTED_MAX, Change, Person
from projections.journal import Author
from referee.actors import Actor, seat_of

CHANGE_HEADINGS = ("event", "at", "by", "confirmed_by")
"""Codes of the last headings in each table of changes."""
UNLIMITED = {"proposals", "keys", "key_changes"}
"""Tables that show all rows."""
FIRST_ROWS = {"open_matches", "waiting", "left_out"}
"""Tables with the first :data:`LISTED_MAX` rows. The other tables with a limit have the last."""

Table = tuple[str, Sequence[str], Sequence[Sequence[object]]]
"""Code of the title, codes of the headings, and rows. ``None`` is an empty cell."""


def tables(audit: Audit, texts: PageTexts) -> Iterator[Table]:
    yield from _current_tables(audit, texts)
    yield from _change_tables(audit, texts)
    yield from _match_tables(audit, texts)


def cut_note(title: str, rows: Sequence[object], texts: PageTexts) -> str:
    """Return a note that rows may be missing; empty: none is missing."""
    if title in UNLIMITED or len(rows) < LISTED_MAX:
        return ""
    return texts.word("first_rows" if title in FIRST_ROWS else "last_rows", count=LISTED_MAX)


def _current_tables(audit: Audit, texts: PageTexts) -> Iterator[Table]:
    """Yield open matches, proposals, reversals and keys."""
    holders = {
        (actor := f"key:{key.key}"): Person(actor=actor, member=key.member, name=key.name, app=key.app)
        for key in audit.keys
    }
    yield "open_matches", ("match", "evening"), [(one.match, one.evening) for one in audit.open_matches]
    yield (
        "proposals",
        ("proposal", "kind", "by", "at"),
        [
            (one.proposal, texts.proposed_command(one), _author_text(texts, one.by, holders), utc_text(one.at))
            for one in audit.proposals
        ],
    )
    yield (
        "reversals",
        ("number", "reverses", "date", "by"),
        [(one.number, one.reverses, one.date, _author_text(texts, one.by, holders)) for one in audit.reversals],
    )
    yield (
        "keys",
        ("key", "whose", "scopes", "since", "until"),
        [
            (
                *(one.key, texts.member(one.member, one.name) or one.app, ", ".join(one.scopes), one.since.date()),
                _expiry_or_revocation(texts, one),
            )
            for one in audit.keys
        ],
    )


def _author_text(texts: PageTexts, author: Author, holders: Mapping[Actor, Person]) -> str:
    """Return the holder of the author's key, otherwise the seat or actor; and the match, if any.

    ``holders``: by actor.
    """
    seat = seat_of(author.actor)
    who = texts.person(holders.get(author.actor)) or (author.actor if seat is None else texts.word("seat", seat=seat))
    return who if author.match is None else texts.word("in_match", who=who, match=author.match)


def _expiry_or_revocation(texts: PageTexts, key: KeyAudited) -> str:
    if key.revoked_at is None:
        return key.expires_at.date().isoformat()
    return texts.word("revoked", at=key.revoked_at.date().isoformat())


def _change_tables(audit: Audit, texts: PageTexts) -> Iterator[Table]:
    """Yield the tables of changes. Each row ends with the cells of :data:`CHANGE_HEADINGS`."""

    def listed(title: str, heads: Sequence[str], rows: Sequence[tuple[Change, Sequence[object]]]) -> Table:
        return title, (*heads, *CHANGE_HEADINGS), [(*row, *_cells_of_change(one, texts)) for one, row in rows]

    yield listed(
        "key_changes",
        ("key", "done"),
        [(one, (key.key, texts.word(f"key_{one.what}"))) for key in audit.keys for one in key.changes],
    )
    yield listed(
        "settings",
        ("setting", "before", "after"),
        [(one, (one.setting, one.before, one.after)) for one in audit.settings],
    )
    yield listed(
        "payees",
        ("whose", "swish", "iban"),
        [(one, _payee_cells(texts, one.member, one.name, one.swish, one.iban)) for one in audit.payees],
    )
    yield listed(
        "erasures",
        ("whose", "deleted", "changed"),
        [(one, (texts.member(one.member, None), one.deleted, one.changed)) for one in audit.erasures],
    )
    yield listed(
        "closings_made",
        ("closing", "label", "number"),
        [(one, (one.closing, one.label, one.through)) for one in audit.closings],
    )
    yield listed("alone", ("done",), [(one, (texts.word(one.topic),)) for one in audit.alone])
    yield listed(
        "related",
        ("proposal", "kind", "relation", "inviter"),
        [
            (one, (one.proposal, texts.command(one.act), texts.word(one.how), texts.person(one.inviter)))
            for one in audit.related
        ],
    )


def _match_tables(audit: Audit, texts: PageTexts) -> Iterator[Table]:
    yield (
        "across_closings",
        ("match", "evening", "closing", "event", "number"),
        [
            (one.match, one.evening, ", ".join(map(str, one.closings)), one.event, one.entry)
            for one in audit.across_closings
        ],
    )
    yield (
        "stakes",
        ("match", "evening", "done", "whose", "event", "at", "by"),
        [
            (
                *(one.match, one.evening, texts.word(f"stakes_{one.how}"), _member_names(texts, one.members)),
                *(one.event, utc_text(one.at), texts.person(one.by)),
            )
            for one in audit.stakes
        ],
    )
    yield (
        "waiting",
        ("match", "evening", "event", "whose"),
        [(one.match, one.evening, one.event, _member_names(texts, one.members)) for one in audit.waiting],
    )
    yield (
        "attempts",
        ("match", "at", "by", "count"),
        [(one.match, utc_text(one.at), texts.person(one.by), one.count) for one in audit.attempts],
    )
    yield (
        "left_out",
        ("match", "event", "reason"),
        [(one.match, one.event, texts.word(one.why)) for one in audit.left_out],
    )


def _member_names(texts: PageTexts, members: Sequence[int]) -> str:
    return ", ".join(texts.member(member, None) for member in members)


def _cells_of_change(change: Change, texts: PageTexts) -> tuple[object, ...]:
    return change.event, utc_text(change.at), texts.person(change.by), texts.person(change.confirmed_by)


def _payee_cells(
    texts: PageTexts, member: int | None, name: str | None, swish: bool, iban: bool
) -> tuple[object, ...]:
    whose = texts.member(member, name) or texts.word("the_club")
    return whose, *(texts.word("set" if number else "not_set") for number in (swish, iban))


def utc_text(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC")
