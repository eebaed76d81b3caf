"""Rows of a match with the proof of each, to be checked by anybody with ``openapi/verify.py``."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Any

from litestar import get
from litestar.params import QueryParameter
from sqlalchemy import Connection

from api.access.caller import Caller
from api.books.places import Place, place_of
from api.http.describe import described
from api.http.headers import Req
from api.http.params import NUMBER, MatchId
from api.http.problems import Problem
from api.http.replies import PRIVATE, Reply
from api.log.bundled import (
    AGREED,
    OPENED,
    RULED,
    SCORES,
    Bundle,
    Entries,
    Extended,
    bundle_of,
    decided,
    entry_told,
    extended_by,
    recorded_in,
    settlement_by,
)
from api.log.proving import Placed, answer, in_tree, last_signed, rows_of
from api.service import Service, service_of
from projections.follow.page import topics
from referee.log.tree import Tree
from referee.proceedings.cases import FACTS
from referee.proceedings.corrections import ProtocolCorrected, of_line
from referee.store.match import Match

CORRECTED = topics(ProtocolCorrected)


CASES = topics(*FACTS)


def is_whole(match: Match, placed: Placed, caller: Caller) -> bool:
    """Whether nothing of a row is hidden from the caller but what is hidden from everybody (the hashes of tokens)."""
    _, _, number, topic, _ = placed.row
    public = number <= max(match.public_to, 1) or topic in RULED | AGREED  # which tell of no deal under way
    if not public and topic not in CASES:
        return False
    if topic in RULED and caller.sees_as(public=True) != "official":
        return False
    recorded = recorded_in(placed)
    if not public and getattr(recorded.event, "within_deal", False) and caller.viewer != "official":
        return False
    return match.seen(recorded, caller.sees_as(public)) == match.seen(recorded, "official")


def entries_by(service: Service, connection: Connection, match: Match, rows: Sequence[Placed]) -> Entries | None:
    """Return what the club's books have of a match by these rows of it; ``None`` where rows of the club decide that
    too: the treasurer has taken an entry of it back, or a balance would be too large."""
    opened = match.opened
    if opened.club is None or opened.stakes is None:
        return ()
    money = service.books.ledger.money(connection, match.id)
    if money is not None and money.beyond and not money.above_limit:
        return None
    causes = [f"{match.id}/{one.row[2]}" for one in rows]
    found = service.books.ledger.made_by(connection, opened.club, opened.evening, causes)
    own = {entry.number for entry, _ in found}
    if any(reversal not in own for _, reversal in found if reversal is not None):
        return None
    return tuple([entry_told(entry, of_club=False) for entry, _ in found])


def _of_the_case(rest: Sequence[Placed], cases: set[int], deal: int, place: Place) -> Iterator[Placed]:
    """Yield the opening of a match, the corrections of a deal's line, and the rows of the cases about the deal and of
    those in which its line was corrected."""
    changes = of_line(deal, place.score, place.corrections)
    numbers = {number for number, _ in changes}
    cases = cases | {by.case for _, by in changes if by.case is not None}
    for one in rest:
        recorded = recorded_in(one)
        case = getattr(recorded.event, "case", None) if one.row[3] in CASES else None
        if one.row[3] in OPENED or recorded.originator_version in numbers or case in cases:
            yield one


@get(
    "/matches/{match:uuid}/bundle",
    operation_id="get_bundle",
    summary="What a match came to, with its proof",
    description="Rows as they are stored, each with the proof that it is in the signed log: the opening, the score "
    "of each finished deal, and the end. For the seats and the officials, and a key of its club with `audit`. With "
    "`deal` the opening, all rows of a finished deal, the rows of the cases about it and of those whose ruling "
    "changed its line, and the corrections of the line, for officials and that key: a row holds what was hidden "
    "when it was written, and nothing can be taken out of it without breaking its hash. So nobody gets rows of a "
    "deal under way. In a club's match members are numbers and what they wrote is a reference: names and texts stand "
    "in no row, and erasing them breaks no proof.\n\n"
    "Of a match for money `settlements` has what it came to, and of a club's `entries` what its books have of that, "
    "as far as the rows prove it; a party is told no other entries. Both are null with `deal`, and where a ruling or "
    "the treasurer changed it afterwards in a row that is not for you.\n\n"
    "`python verify.py BUNDLE VKEY` (`openapi/verify.py`) checks it with nothing of this service.",
    tags=["Proof"],
    operation_class=described(gives=Bundle, errors=(401, 403, 404, 409, 503)),
)
async def get_bundle(
    request: Req,
    match: MatchId,
    deal: Annotated[
        int | None, QueryParameter(description="Only this finished deal, and the opening.", schema_extra=NUMBER)
    ] = None,
    from_: Extended = None,
) -> Reply:
    """What a match came to, with its proof."""
    service = service_of(request)
    seen, caller = await service.access.sees(request, match)
    viewer = caller.sees_as(public=True)
    if viewer == "spectator":
        raise Problem("for_the_match")
    if deal is not None and viewer != "official":
        raise Problem("for_officials")
    place, cases = None, set[int]()
    if deal is not None:
        place = await place_of(service, seen, deal)
        book = service.books.cases
        about = partial(book.numbers_about, deal=deal, after=place.before, to=place.score)
        cases = await service.books.ask_of(book, seen.id, seen.version, about)
    signed = await last_signed(service)
    extended_by(signed, from_)
    if place is None and seen.opened.club is not None and seen.opened.stakes is not None:
        await service.books.ask_of(service.books.ledger, seen.id, seen.version, lambda *_: None)

    def of_match(connection: Connection, tree: Tree) -> Any:
        found = rows_of(service, connection, match, 1, seen.version, SCORES | RULED | AGREED)
        found = [one for one in found if one.leaf < tree.size]
        if not found:
            raise Problem("not_signed_yet", event=1, size=signed.size)
        deciding = list(decided(found))
        kinds, own = SCORES | CORRECTED, {one.leaf for one in deciding}
        given = [one for one in found if one.row[3] in kinds or one.leaf in own]
        given = [one for one in given if is_whole(seen, one, caller)]
        if not own <= {one.leaf for one in given}:
            return bundle_of(signed, tree, from_, given, None, None)
        settled = settlement_by(match, seen.opened, deciding)
        entries = entries_by(service, connection, seen, deciding)
        return bundle_of(signed, tree, from_, given, () if settled is None else (settled,), entries)

    def of_deal(connection: Connection, tree: Tree) -> Any:
        assert deal is not None, "a deal was asked for"
        assert place is not None, "a deal was asked for"
        found = rows_of(service, connection, match, place.before + 1, place.score)
        if len(found) < place.score - place.before:
            raise Problem("not_signed_yet", event=place.score, size=signed.size)
        rest = rows_of(service, connection, match, 1, seen.version, OPENED | CASES | RULED)
        more = [one for one in _of_the_case(rest, cases, deal, place) if is_whole(seen, one, caller)]
        found = sorted({one.leaf: one for one in (*found, *more)}.values())
        if found[-1].leaf >= tree.size:
            raise Problem("not_signed_yet", event=found[-1].row[2], size=signed.size)
        return bundle_of(signed, tree, from_, found, None, None)

    return await answer(request, await in_tree(service, signed, of_match if place is None else of_deal), PRIVATE)
