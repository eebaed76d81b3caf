"""Opens a match and returns its tokens."""

from collections.abc import Callable
from hmac import compare_digest
from typing import Annotated, Any, NamedTuple
from uuid import UUID, uuid4

import msgspec
from litestar import post
from msgspec.structs import replace

from api.access.access import check_authorization
from api.access.clubs import must_have
from api.access.idempotent_secrets import Derived
from api.access.tokens import hash_of, new_token
from api.http.bodies import Body
from api.http.describe import OPENING_KEY, described, link
from api.http.replies import Reply, versioned_reply
from api.http.threads import in_thread
from api.http.writes import must_be_recent
from api.matches.opening_request import OpenMatch, official_names, officials_of, opening_event, with_official_names
from api.matches.schemas import RulesetSeen
from api.runtime.aggregate_reader import match_of
from api.runtime.call import ApiCall
from api.runtime.service import Service
from referee import wire_types
from referee.actors import Actor, officials
from referee.clubs.lookup import key_of_actor
from referee.clubs.state import Club
from referee.events import Adjudication, Dealing, Enforcement, MatchOpened, Shuffling, Visibility
from referee.store.command import Command, KeyReused, Outcome
from referee.store.match import Match
from referee.tokens import encrypt_or_decrypt, hash_in_match
from referee.value import Seat, Time, Value, Version, type_depends_on


class SeatGiven(Value):
    """A seat of a new match."""

    seat: Seat
    name: wire_types.Name
    token: wire_types.Token | None
    """Token; null in a club's match for money: the member redeems an invitation, or acts with their own key."""
    member: wire_types.MemberNumber | None


class OfficialGiven(Value):
    """An official of a new match."""

    actor: Actor
    """Actor in the official's events."""
    name: wire_types.Name
    token: wire_types.Token | None
    """Token; null: the request has the SHA-256 of the official's own token."""


class MatchMade(Value):
    """A new match. No other call shows its tokens; their hashes are stored."""

    id: UUID
    version: Version
    ruleset: RulesetSeen
    edition: wire_types.Edition
    options: Annotated[dict[str, Any], type_depends_on("ruleset", "resolved")]
    dealing: Dealing
    enforcement: Enforcement
    shuffle: Shuffling | None
    """`committed`: each shuffle can be checked after its deal; null: none can."""
    entropy_seconds: wire_types.EntropySeconds
    """Seconds that a deal waits for contributions to the shuffle."""
    seats: wire_types.BySeat[SeatGiven]
    official_token: wire_types.Token | None
    adjudication: Adjudication | None
    officials: Annotated[tuple[OfficialGiven, ...], wire_types.at_most(wire_types.OFFICIALS_MAX)]
    """Officials, in the order of the request; `official_token` is of the first. Empty without `adjudication`: the one
    official is not listed."""
    club: UUID | None
    evening: wire_types.EveningNumber | None
    table: wire_types.TableNumber | None
    visibility: Visibility
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
    description="Opens a match and returns the tokens of the seats and officials, which no other call shows. "
    "A seat's token acts for the seat; the official sees everything and may void a deal. 422 if the game "
    "does not allow the number of players, an option or one of the settings.\n\n"
    "`dealing`: the server deals (`house`), or the players use real cards (`table`). With `tally` no cards are "
    "entered, only the winner of each trick (`trick`) or a whole deal in the form of its score sheet (`result`). "
    "In a tally any token of the match acts for all seats. `enforcement`: an act against the rules is refused "
    "(`refuse`), or counts until a player knocks (`penalise`). `opening` takes over a match begun on paper. In "
    "Rams the `points` of `opening` are the balances. They and `pot` are minor units of money if `stakes` are set, "
    "else tricks.\n\n"
    "`stakes` are for games whose source says who pays whom; other games need the house rule `money`, an option. "
    "`get_settlement` has the result. **A club's match for money has no tokens for seats.** The club's books "
    "count such a match only when each of its members has agreed to the stakes. A member agrees by redeeming the "
    "invitation to the seat, or by the act `agree_stakes` with a key of their own. 422 `stakes-above-limit` if "
    "one point, or the opening points of one player, are worth more than the club's `stake_limit`.\n\n"
    "`adjudication` names the officials who rule on what the events cannot decide. If it is left "
    "out, a match at a real table has one official, because a report that the cards cannot prove should not cost "
    "a player points. If it is null, no official rules.\n\n"
    '`shuffle: "committed"`: before each deal the server publishes the hash of a seed, and the seats may '
    "contribute to the shuffle (act `entropy`). When the deal is over the seed is shown, and any client can "
    "compute the cards: a [guide](/docs/guides/shuffle.md) says how, [shuffle.py](/docs/shuffle.py) does it.\n\n"
    "With an `Idempotency-Key` of 16 characters or more, a request whose answer was lost can be repeated for 24 "
    "hours: the same key and body return the same match and tokens, from any process and after a restart. A "
    "different body gets 422, and the key of a different caller 409. The key and the body together give the "
    "tokens, so use a random UUID and keep it secret. The key is not stored: the events have the id of the "
    "match, which is derived from key and body, instead.",
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
    service = request.service
    key, body = request.secret_idempotency_key, await BODY.read(request)
    club, actor = await _opener(service, request, body)
    secret = await in_thread(lambda: service.referee.secret)
    tokens = _id_and_tokens_for(body, secret, key)
    match_id, own_key = tokens.match_id, None if key is None else str(tokens.match_id)
    before = None if own_key is None else await in_thread(service.referee.opening_act, match_id, actor, own_key)
    if before is None:
        opened = _first_event(body, tokens, secret, club, actor)
        await _check_quota(service, request, body.club)
        outcome = await _store_opening(
            service, Command(id=match_id, actor=actor, request=opened, key=own_key), opened
        )
        match, version = match_of(outcome.aggregate), outcome.events[-1].originator_version
    else:
        match, version = await service.reader.match_perhaps_stale(match_id), before.last
    headers = _replayed_headers(match, tokens.seat_tokens) if before is not None or outcome.repeated else {}
    match, texts = await service.member_names.with_names(match, service.member_names.texts_in(match))
    headers |= {"Location": f"/v1/matches/{match_id}", "Cache-Control": "no-store"}
    return versioned_reply(_match_made(match, version, tokens), version, texts, status=201, headers=headers)


class _Tokens(NamedTuple):
    match_id: UUID
    seat_tokens: tuple[str, ...]
    officials: tuple[OfficialGiven, ...]
    official_token_hashes: tuple[str, ...]


def _id_and_tokens_for(body: OpenMatch, secret: bytes, key: str | None) -> _Tokens:
    """Return the id and tokens of a new match: derived from ``key`` and body, or random without a key."""
    make: Callable[[str], str]
    if key is None:
        match_id, make = uuid4(), lambda _: new_token()
    else:
        derived = Derived(secret, key, msgspec.json.encode(body, order="deterministic"))
        match_id, make = derived.match_id, derived.token
    seats = tuple(make(f"seat {seat}") for seat, _ in enumerate(body.players))
    named = officials_of(body)
    given = tuple(
        OfficialGiven(actor=actor, name=one.name, token=make(actor) if one.token_sha256 is None else None)
        for actor, one in zip(officials(len(named)), named, strict=True)
    )
    hashes = tuple(
        hash_of(one.token) if one.token is not None else str(own.token_sha256)
        for one, own in zip(given, named, strict=True)
    )
    return _Tokens(match_id, seats, given, hashes)


def _first_event(body: OpenMatch, tokens: _Tokens, secret: bytes, club: Club | None, actor: Actor) -> MatchOpened:
    """Return the first event, with the members behind the opener's key.

    Raises Problem (422) or ``Refused`` as :func:`opening_event`.
    """
    match_id, hashes = tokens.match_id, tokens.official_token_hashes
    seats = tuple(hash_in_match(match_id, hash_of(token)) for token in tokens.seat_tokens)
    attending = tuple(hash_in_match(match_id, one) for one in hashes)
    opened = opening_event(body, seats, attending, club, encrypt_or_decrypt(secret, match_id, hashes))
    by_key = None if club is None else key_of_actor(club, actor)
    return opened if by_key is None else replace(opened, given_by=tuple(sorted(by_key.behind)))


def _match_made(match: Match, version: int, tokens: _Tokens) -> MatchMade:
    opened = match.opened
    members, for_money = opened.members, opened.club is not None and opened.stakes is not None
    return MatchMade(
        id=match.id,
        version=version,
        ruleset=opened.ruleset,
        edition=opened.edition,
        options=opened.options,
        dealing=opened.dealing,
        enforcement=opened.enforcement,
        shuffle=opened.shuffle,
        entropy_seconds=opened.entropy_seconds,
        seats=tuple(
            SeatGiven(
                seat=seat,
                name=name,
                token=None if for_money else token,
                member=members[seat] if members else None,
            )
            for seat, (name, token) in enumerate(zip(opened.players, tokens.seat_tokens, strict=True))
        ),
        official_token=tokens.officials[0].token,
        adjudication=opened.adjudication,
        officials=() if opened.adjudication is None else tokens.officials,
        club=opened.club,
        evening=opened.evening,
        table=opened.table,
        visibility=opened.visibility,
        opened_at=match.opened_at,
    )


async def _store_opening(service: Service, command: Command, opened: MatchOpened) -> Outcome:
    """Store the opening. In a club, refs replace the officials' names."""
    names = official_names(opened)
    if opened.club is None or not names:
        return await service.commands.do(command)
    async with service.commands.refs_for(opened.club, names, act=command.key, match=command.id) as refs:
        named = with_official_names(opened, dict(zip(names, refs, strict=True)))
        return await service.commands.do(replace(command, request=named))


async def _opener(service: Service, request: ApiCall, body: OpenMatch) -> tuple[Club | None, Actor]:
    """Return club, if any, and actor. Raises Problem (400, 401, 403, 404) if the caller may not open the match."""
    if body.club is None:
        check_authorization(request)
        service.quotas.must_allow_opening_without_key()
        return None, "official"
    caller = await service.club_access.caller(request, body.club)
    must_have(caller, "open")
    # The key is checked twice, because the newest state may have revoked it.
    await service.reader.newest_club(caller.club)
    caller = await service.club_access.caller(request, body.club)
    return caller.club.state, caller.actor


async def _check_quota(service: Service, request: ApiCall, club: UUID | None) -> None:
    """Raise Problem (403) for too many open matches in the club.

    Without a club, count the opening, and refuse too many from the caller's address.
    """
    if club is None:
        service.quotas.count_opening(request)
        return
    matches = service.projections.matches
    count, _ = await service.projections.ask_of_all(matches, lambda connection: matches.count_open(connection, club))
    service.quotas.must_allow_opening_in_club(count)


def _replayed_headers(match: Match, tokens: tuple[str, ...]) -> dict[str, str]:
    """Return the headers of a repeat. Raises ``KeyReused`` for a different body, Problem (422) after 24 hours."""
    if not compare_digest(match.opened.tokens[0], hash_in_match(match.id, hash_of(tokens[0]))):
        raise KeyReused
    must_be_recent(match.opened_at)
    return {"Idempotency-Replayed": "true"}
