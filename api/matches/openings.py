"""Opening a match, and the tokens that it gives."""

from hmac import compare_digest
from typing import Annotated, Any
from uuid import UUID, uuid4

import msgspec
from litestar import post
from msgspec.structs import replace

from api.access.access import anybody
from api.access.clubs import must_have
from api.access.idempotent_secrets import Derived
from api.access.tokens import hash_of, new_token
from api.http.bodies import Body
from api.http.describe import OPENING_KEY, described, link
from api.http.replies import Reply, of_match
from api.http.threads import in_thread
from api.http.writes import must_be_recent
from api.matches.opening_request import OpenMatch, officials_named, officials_of, opened_by, with_officials
from api.matches.schemas import RulesetSeen
from api.runtime.aggregate_reader import match_of
from api.runtime.call import ApiCall
from api.runtime.service import Service
from referee import wire_types
from referee.actors import Actor, officials
from referee.clubs.lookup import key_by
from referee.clubs.state import Club
from referee.events import Adjudication, Dealing, Enforcement, MatchOpened, Shuffling, Visibility
from referee.store.command import Command, KeyReused, Outcome
from referee.store.match import Match
from referee.tokens import in_match, sealed
from referee.value import Seat, Time, Value, Version, tied


class SeatGiven(Value):
    """A seat and the token of whoever plays for it."""

    seat: Seat
    name: wire_types.Name
    token: wire_types.Token | None
    """null: in a club's match for money the member takes the seat by an invitation, or acts with a key of their
    own."""
    member: wire_types.MemberNumber | None
    """Which member of the club; null: it is no club's match."""


class OfficialGiven(Value):
    """An official and the token that the match gives."""

    actor: Actor
    """As whom the events name whoever acts with it."""
    name: wire_types.Name
    token: wire_types.Token | None
    """null: the official has a token of his own."""


class MatchMade(Value):
    """A match just opened. The tokens are shown this once, and only hashes of them are stored."""

    id: UUID
    version: Version
    ruleset: RulesetSeen
    edition: wire_types.Edition
    options: Annotated[dict[str, Any], tied("ruleset", "resolved")]
    dealing: Dealing
    enforcement: Enforcement
    shuffle: Shuffling | None
    """`committed`: the shuffle of each deal can be checked when it is over. null: it cannot."""
    entropy_seconds: wire_types.EntropySeconds
    """So many seconds a deal waits for what the seats add to the shuffle."""
    seats: wire_types.BySeat[SeatGiven]
    official_token: wire_types.Token | None
    adjudication: Adjudication | None
    """How officials attend to the match; null: nobody rules on what events cannot decide."""
    officials: Annotated[tuple[OfficialGiven, ...], wire_types.at_most(wire_types.OFFICIALS_MAX)]
    """The officials in the order in which they were named; the first has `official_token`."""
    club: UUID | None
    """Whose match it is; null: nobody's."""
    evening: wire_types.EveningNumber | None
    """On which of the club's evenings it is played."""
    table: wire_types.TableNumber | None
    """At which table of that evening."""
    visibility: Visibility
    """Who may see it."""
    opened_at: Time


BODY: Body[OpenMatch] = Body(OpenMatch)


def _match_links() -> dict[str, Any]:
    of = {"match": "$response.body#/id"}
    calls = ("get_match", "list_legal_acts", "send_act", "send_knock", "list_events", "replay_match", "get_protocol")
    return {name: link(name, **of) for name in calls}


@post(
    "/matches",
    operation_id="open_match",
    summary="Open a match",
    description="Opens a match. The answer holds a token for each seat and one for the official: they are shown this "
    "once. Whoever holds a seat's token acts for the seat; the official may void a deal and sees everything.\n\n"
    "`dealing`: the server deals (`house`), or cards lie on a real table (`table`); with `tally` nobody tells which, "
    "only who took each trick (`trick`), or a whole deal as its score sheet has it (`result`), and any token of the "
    "match writes for everybody. `enforcement`: what the rules "
    "forbid is refused (`refuse`), or stands until somebody knocks (`penalise`). `opening` takes over a match begun "
    "on paper; in Rams `points` are the balances, and they and `pot` count minor units of money where `stakes` are "
    "set, else tricks. `stakes` are for games whose source says who pays whom, and elsewhere need a house rule, the "
    "option `money`; what a match comes to is at `…/settlement`. **A club's match for money gives no tokens of "
    "seats**, and the books count it only when each member in it has agreed to the stakes: by redeeming the "
    "invitation to the seat, or by the act `agree_stakes` with a key of their own. Of a club with a `stake_limit` "
    "422 `stakes-above-limit` if one point, or what one player has at the start, already comes to more.\n\n"
    "`adjudication` names the officials who hear what events cannot decide. At a real table one does unless it is "
    "null: there a seat may report what the cards cannot show, and should not by itself put points on anybody.\n\n"
    '`shuffle: "committed"`: before each deal the server publishes the hash of a seed and the seats may add to it '
    "(act `entropy`); when the deal is over the seed is shown, and anybody can compute the cards. "
    "`openapi/guides/shuffle.md` says how, `openapi/shuffle.py` does it.\n\n"
    "With an `Idempotency-Key` of 16 characters or more a lost answer loses no match: for 24 hours the same key with "
    "the same body is answered with the same match and the same tokens, by any process and after a restart; with "
    "another body 422. With the key of another caller it is 409. Whoever knows the key and the body can have the "
    "tokens, so make it a random UUID and keep it as you keep them. It is not stored: in the audit trail the match's "
    "own id stands for it.",
    tags=["Matches"],
    operation_class=described(
        body=OpenMatch,
        gives=MatchMade,
        status=201,
        says="The match is open.",
        headers=("Location", "ETag", "Idempotency-Replayed"),
        takes=(OPENING_KEY,),
        errors=(400, 401, 403, 404, 409, 413, 415, 422, 503),
        links=_match_links(),
    ),
)
async def open_match(request: ApiCall) -> Reply:
    """Opens a match."""
    service = request.service
    key, body = request.secret_idempotency_key, await BODY.read(request)
    club, actor = await _by(service, request, body)
    match_id: UUID
    named, secret = officials_of(body), await in_thread(_secret, service)
    if key is None:
        match_id, make = uuid4(), _make
    else:
        derived = Derived(secret, key, msgspec.json.encode(body, order="deterministic"))
        match_id, make = derived.match_id, derived.token
    tokens = tuple(make(f"seat {seat}") for seat, _ in enumerate(body.players))
    given = tuple(
        OfficialGiven(actor=actor, name=one.name, token=make(str(actor)) if one.token_sha256 is None else None)
        for actor, one in zip(officials(len(named)), named, strict=True)
    )
    hashes = tuple(
        hash_of(one.token) if one.token is not None else str(own.token_sha256)
        for one, own in zip(given, named, strict=True)
    )
    before = None if key is None else await in_thread(service.referee.opened_by, match_id, actor, str(match_id))
    if before is None:
        seats = tuple(in_match(match_id, hash_of(token)) for token in tokens)
        attending = tuple(in_match(match_id, one) for one in hashes)
        opened = opened_by(body, seats, attending, club, sealed(secret, match_id, hashes))
        by_key = None if club is None else key_by(club, actor)
        opened = opened if by_key is None else replace(opened, given_by=tuple(sorted(by_key.behind)))
        await _may_open(service, request, body.club)
        command = Command(id=match_id, actor=actor, request=opened, key=None if key is None else str(match_id))
        outcome = await _opened(service, command, opened)
        match, version = match_of(outcome.aggregate), outcome.events[-1].originator_version
    else:
        match, version = await service.reader.opened(match_id), before.last
    headers = _again(match, tokens) if before is not None or outcome.repeated else {}
    # The caller may read the names: it holds a key of the club.
    match, texts = await service.member_names.named(match, service.member_names.texts_in(match))
    members, for_money = match.opened.members, match.opened.club is not None and match.opened.stakes is not None
    made = MatchMade(
        id=match_id,
        version=version,
        ruleset=match.opened.ruleset,
        edition=match.opened.edition,
        options=match.opened.options,
        dealing=match.opened.dealing,
        enforcement=match.opened.enforcement,
        shuffle=match.opened.shuffle,
        entropy_seconds=match.opened.entropy_seconds,
        seats=tuple(
            SeatGiven(
                seat=seat,
                name=name,
                token=None if for_money else token,
                member=members[seat] if members else None,
            )
            for seat, (name, token) in enumerate(zip(match.opened.players, tokens, strict=True))
        ),
        official_token=given[0].token,
        adjudication=match.opened.adjudication,
        officials=() if match.opened.adjudication is None else given,
        club=match.opened.club,
        evening=match.opened.evening,
        table=match.opened.table,
        visibility=match.opened.visibility,
        opened_at=match.opened_at,
    )
    headers |= {"Location": f"/v1/matches/{match_id}", "Cache-Control": "no-store"}
    return of_match(made, version, texts, status=201, headers=headers)


async def _opened(service: Service, command: Command, opened: MatchOpened) -> Outcome:
    """Has a match opened. Officials of a club's match are people of the club, or known to it: like what they write
    their names are kept beside the rows."""
    names = officials_named(opened)
    if opened.club is None or not names:
        return await service.commands.do(command)
    async with service.commands.refs_for(opened.club, names, act=command.key, match=command.id) as refs:
        named = with_officials(opened, dict(zip(names, refs, strict=True)))
        return await service.commands.do(replace(command, request=named))


def _make(whose: str) -> str:
    return new_token()


def _secret(service: Service) -> bytes:
    return service.referee.secret


async def _by(service: Service, request: ApiCall, body: OpenMatch) -> tuple[Club | None, Actor]:
    """The club whose match it shall be, and by whom it is opened: by a key of the club that is good for it, or where
    it is no club's by anybody. 401, 403, 404."""
    if body.club is None:
        anybody(request)
        service.quotas.may_open()
        return None, "official"
    caller = await service.club_access.caller(request, body.club)
    must_have(caller, "open")
    await service.reader.newest_club(caller.club)
    caller = await service.club_access.caller(request, body.club)  # which may have revoked his key just now
    return caller.club.standing, caller.actor


async def _may_open(service: Service, request: ApiCall, club: UUID | None) -> None:
    """403 where there are as many as there may be."""
    if club is None:
        service.quotas.opens(request)
        return
    book = service.projections.matches
    count, _ = await service.projections.ask_of_all(book, lambda connection: book.still_open(connection, club))
    service.quotas.may_open_in_club(count)


def _again(match: Match, tokens: tuple[str, ...]) -> dict[str, str]:
    """Of a match that had been opened before: the headers that say so. 422 where it was opened with another body,
    which the tokens are made of, or too long ago."""
    if not compare_digest(match.opened.tokens[0], in_match(match.id, hash_of(tokens[0]))):
        raise KeyReused
    must_be_recent(match.opened_at)
    return {"Idempotency-Replayed": "true"}
