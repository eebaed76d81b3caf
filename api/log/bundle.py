"""Rows of a match with the proof of each, to be checked by anybody with ``openapi/verify.py``."""

from collections.abc import Sequence
from itertools import takewhile

from litestar import get
from sqlalchemy import Connection

from api.access.caller import Caller
from api.http.describe import described
from api.http.headers import Req
from api.http.params import MatchId, MinVersion
from api.http.problems import Problem
from api.http.replies import PRIVATE, Reply, encode
from api.log.bundle_schemas import (
    AGREED,
    ENDS,
    ROWS_MOST,
    RULED,
    Bundle,
    BundleAbout,
    Extended,
    Last,
    bundle_of,
    decided,
    extended_by,
    recorded_in,
    settlement_by,
)
from api.runtime.proofs import Placed, answer, in_tree, last_signed, rows_of
from api.runtime.service import service_of
from projections.follow.page import topics
from referee.log.tree import Tree
from referee.officials.events.cases import FACTS
from referee.phases import Over
from referee.store.match import Match

CASES = topics(*FACTS)


def is_whole(match: Match, placed: Placed, caller: Caller) -> bool:
    """Whether nothing of a row is hidden from the caller but what is hidden from everybody (the hashes of tokens)."""
    _, _, number, topic, _ = placed.row
    over = isinstance(match.state, Over)
    public = over or number <= max(match.public_to, 1) or topic in RULED | AGREED  # which tell of no deal under way
    recorded = recorded_in(placed)
    if not public and match.rules.between_deals(match.state):
        public = not recorded.event.HIDDEN
    if not public and topic not in CASES:
        return False
    if topic in RULED and caller.sees_as(public=True) != "official":
        return False
    if not public and getattr(recorded.event, "within_deal", False) and caller.viewer != "official":
        return False
    return match.seen(recorded, caller.sees_as(public)) == match.seen(recorded, "official")


@get(
    "/matches/{match:uuid}/bundle",
    operation_id="get_bundle",
    summary="What a match came to, with its proof",
    description="Rows as they are stored, each with the proof that it is in the signed log, and a signed statement "
    "of the match's last row. For the seats and the officials, and a key of its club with `audit`: all rows from the "
    "first on, as far as no deal is under way and nothing in them is hidden from the caller. A row holds what was "
    "hidden when it was written, and nothing can be taken out of it without breaking its hash. A party from whom "
    "something in the course of play stays hidden gets the opening, and all rows from the end of the match on. In a "
    "club's match members are numbers and what they wrote is a reference: names and texts stand in no row, and "
    "erasing them breaks no proof.\n\n"
    "`settlements` has what a match for money came to by these rows; `entries` is empty: a closing has those. "
    "Beyond 10000 rows 409 `bundle-too-large`.\n\n"
    "`python verify.py BUNDLE VKEY` (`openapi/verify.py`) checks it with nothing of this service.",
    tags=["Proof"],
    operation_class=described(gives=Bundle, errors=(401, 403, 404, 409, 503)),
)
async def get_bundle(
    request: Req,
    match: MatchId,
    from_: Extended = None,
    min_version: MinVersion = 0,
) -> Reply:
    """Answer with what a match came to, with its proof."""
    service = service_of(request)
    seen, caller = await service.access.sees(request, match, min_version)
    if caller.sees_as(public=True) == "spectator":
        raise Problem("for_the_match")
    if seen.version > ROWS_MOST:
        raise Problem("bundle_too_large", count=seen.version, most=ROWS_MOST)
    signed = await last_signed(service)
    extended_by(signed, from_)

    def made(connection: Connection, tree: Tree) -> bytes:
        rows = rows_of(service, connection, match, 1, seen.version)
        rows = [one for one in rows if one.leaf < tree.size]
        if not rows:
            raise Problem("not_signed_yet", event=1, size=signed.size)
        given = given_to(seen, caller, rows)
        settled = settlement_by(match, seen.opened, decided(given))
        bundle = bundle_of(
            BundleAbout(kind="match", id=str(match), closing=None),
            signed,
            tree,
            from_,
            given,
            {str(match): Last(rows[-1], tree.size)},
            service.signer.keys if service.signer else (),
            () if settled is None else (settled,),
            (),
        )
        return encode(bundle)

    return await answer(request, await in_tree(service, signed, made, takes_long=True), PRIVATE)


def given_to(match: Match, caller: Caller, rows: Sequence[Placed]) -> list[Placed]:
    """Return the rows that a caller gets: all from the first on as far as they are whole. A party from whom something
    in them is hidden gets the opening, and those from the end of the match on."""
    shown = list(takewhile(lambda one: is_whole(match, one, caller), rows))
    over = next((place for place, one in enumerate(rows) if one.row[3] in ENDS), len(rows))
    if len(shown) <= over < len(rows):
        return [rows[0], *takewhile(lambda one: is_whole(match, one, caller), rows[over:])]
    return shown
