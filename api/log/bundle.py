"""The call that returns the bundle of a match."""

from collections.abc import Sequence
from itertools import takewhile

from litestar import get
from sqlalchemy import Connection

from api.access.caller import Caller
from api.http.describe import described
from api.http.params import MatchId, MinVersion
from api.http.problems import Problem
from api.http.replies import PRIVATE, Reply, encode
from api.log.bundle_schemas import (
    AGREED,
    ENDS,
    ROWS_MAX,
    RULED,
    Bundle,
    BundleAbout,
    FromSize,
    Last,
    bundle_of,
    decode_placed,
    must_extend,
    result_rows,
    settlement_from_rows,
)
from api.runtime.call import ApiCall
from api.runtime.proofs import Placed, ask_signed_tree, last_signed, proof_reply, rows_of
from projections.follow.page import topics
from referee.log.tree import Tree
from referee.officials.events.cases import FACTS
from referee.phases import Over
from referee.store.match import Match

CASES = topics(*FACTS)


def sees_whole(match: Match, placed: Placed, caller: Caller) -> bool:
    """Return whether the caller may see all fields of a row, except the hashes of tokens."""
    _, _, number, topic, _ = placed.row
    over = isinstance(match.play, Over)
    # Rulings and agreements show nothing of an unfinished deal.
    public = over or number <= max(match.public_to, 1) or topic in RULED | AGREED
    recorded = decode_placed(placed)
    if not public and match.rules.between_deals(match.play):
        public = not recorded.event.HIDDEN
    if not public and topic not in CASES:
        return False
    if topic in RULED and caller.deal_viewer(public=True) != "official":
        return False
    if not public and getattr(recorded.event, "within_deal", False) and caller.viewer != "official":
        return False
    return match.event_seen_by(recorded, caller.deal_viewer(public)) == match.event_seen_by(recorded, "official")


@get(
    "/matches/{match:uuid}/bundle",
    operation_id="get_bundle",
    summary="Get the proof of a match's result",
    description="Returns stored rows, each with the proof that it is in the signed log, and a signed statement of "
    "the match's last row. Requires the token of a seat or an official, or a key of the match's club with `audit`. "
    "The rows begin with the first, and end before the first row that is part of an unfinished deal or has a field "
    "that is hidden from the caller: a row without a field would not match its hash. A party from whom a field "
    "stays hidden gets the opening, and the rows from the end of the match on. In a club's match the rows have "
    "numbers instead of members and references instead of their texts, so an erasure breaks no proof.\n\n"
    "`settlements` has the result of a match for money by these rows. `entries` is empty: only a closing has "
    "entries. More than 10000 rows get 409 `bundle-too-large`.\n\n"
    "`python verify.py BUNDLE VKEY` ([verify.py](/docs/verify.py)) checks the bundle without this service.",
    tags=["Proof"],
    operation_class=described(gives=Bundle, errors=(401, 403, 404, 409, 503)),
)
async def get_bundle(
    request: ApiCall,
    match_id: MatchId,
    from_: FromSize = None,
    min_version: MinVersion = 0,
) -> Reply:
    service = request.service
    match, caller = await service.access.identify_viewer(request, match_id, min_version)
    if caller.deal_viewer(public=True) == "spectator":
        raise Problem("for_the_match")
    if match.version > ROWS_MAX:
        raise Problem("bundle_too_large", count=match.version, most=ROWS_MAX)
    signed = await last_signed(service)
    must_extend(signed, from_)

    def read_bundle(connection: Connection, tree: Tree) -> bytes:
        rows = rows_of(service, connection, match_id, 1, match.version)
        rows = [one for one in rows if one.leaf < tree.size]
        if not rows:
            raise Problem("not_signed_yet", event=1, size=signed.size)
        given = visible_rows(match, caller, rows)
        settled = settlement_from_rows(match_id, match.opened, result_rows(given))
        bundle = bundle_of(
            BundleAbout(kind="match", id=str(match_id), closing=None),
            signed,
            tree,
            from_,
            given,
            {str(match_id): Last(rows[-1], tree.size)},
            service.signer.keys if service.signer else (),
            () if settled is None else (settled,),
            (),
        )
        return encode(bundle)

    return await proof_reply(request, await ask_signed_tree(service, signed, read_bundle, takes_long=True), PRIVATE)


def visible_rows(match: Match, caller: Caller, rows: Sequence[Placed]) -> list[Placed]:
    """Return the rows before the first row that the caller may not see whole.

    If the match ended at or after that row, return the opening, and from the match's end the rows before the next
    such row.
    """
    shown = list(takewhile(lambda one: sees_whole(match, one, caller), rows))
    over = next((place for place, one in enumerate(rows) if one.row[3] in ENDS), len(rows))
    if len(shown) <= over < len(rows):
        return [rows[0], *takewhile(lambda one: sees_whole(match, one, caller), rows[over:])]
    return shown
