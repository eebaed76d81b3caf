"""Founds a club."""

from hmac import compare_digest
from typing import Annotated, Any
from uuid import UUID, uuid4

from litestar import post
from msgspec import Meta

from api.clubs.new_keys import FIRST_KEY, NewKey, derived_secrets, make_key, random_bytes
from api.clubs.schemas import KeyGiven
from api.clubs.zones import must_be_zone
from api.http.bodies import Body
from api.http.describe import KEY_OR_ANYBODY, OPENING_KEY, described, link
from api.http.member_texts import NO_TEXTS
from api.http.replies import Reply, versioned_reply
from api.http.threads import in_thread
from api.http.writes import must_be_recent
from api.runtime.aggregate_reader import club_of
from api.runtime.call import ApiCall
from api.runtime.member_names import must_be_visible
from api.runtime.service import Service
from referee import wire_types
from referee.actors import Actor
from referee.clubs.commands import ClubName, CurrenciesSent, PersonName, ZoneSent
from referee.clubs.facts import ClubFounded
from referee.clubs.keys import KEY_DAYS
from referee.clubs.rules import check_currencies
from referee.store.clock import utc_now
from referee.store.club import Club
from referee.store.command import Command, KeyReused
from referee.value import Value, Version


class Founder(Value, forbid_unknown_fields=True):
    """The first member of a club."""

    name: PersonName


class FoundClub(Value, forbid_unknown_fields=True):
    """A club to found."""

    name: ClubName
    currencies: CurrenciesSent
    """Codes of ISO 4217, the default first. Only currencies with two decimals."""
    timezone: ZoneSent
    founder: Founder
    """Founder, who becomes member 1 and gets a key with all scopes."""


class ClubMade(Value):
    """A new club."""

    id: UUID
    version: Version
    member: wire_types.MemberNumber
    """Founder."""
    key: Annotated[KeyGiven, Meta(description="Key of the founder, with all scopes, for 400 days. Shown only here.")]


BODY: Body[FoundClub] = Body(FoundClub)


def _club_links() -> dict[str, Any]:
    calls = ("get_club", "send_club_act", "list_members", "list_evenings", "list_keys")
    return {name: link(name, club="$response.body#/id") for name in calls}


@post(
    "/clubs",
    operation_id="found_club",
    summary="Found a club",
    description="Founds a club and makes its founder member 1, with a key of all scopes that is shown only in this "
    "answer. The operator founds clubs with the operator's key. Other callers need no key, unless the operator "
    "reserves foundings (401).\n\n"
    "With an `Idempotency-Key` of 16 characters or more a lost answer loses no club: for 24 hours the same key and "
    "body return the same club and key, from any process and after a restart. A different body gets 422. The "
    "`Idempotency-Key` is not stored. Make it a random UUID, because with the body it yields the founder's key.",
    tags=["Clubs"],
    security=KEY_OR_ANYBODY,
    operation_class=described(
        body=FoundClub,
        gives=ClubMade,
        status=201,
        says="The club is founded.",
        headers=("Location", "ETag", "Idempotency-Replayed"),
        takes=(OPENING_KEY,),
        errors=(400, 401, 403, 413, 415, 422, 503),
        links=_club_links(),
    ),
)
async def found_club(request: ApiCall) -> Reply:
    service = request.service
    actor: Actor = service.club_access.founder(request)
    key, body = request.secret_idempotency_key, await BODY.read(request)
    must_be_visible("/name", body.name)
    must_be_visible("/founder/name", body.founder.name)
    check_currencies(body.currencies)
    await must_be_zone(body.timezone)
    club_id, random = uuid4(), random_bytes()
    if key is not None:
        derived = await derived_secrets(service, key, body, "founding", actor)
        club_id, random = derived.id_of("club"), derived.secret_of("founder")
    made = make_key(club_id, FIRST_KEY, random)
    club, version, headers = await _found_once(request, club_id, actor, body, made, keyed=key is not None)
    first = club.state.keys[0]
    answer = ClubMade(id=club_id, version=version, member=1, key=made.view(FIRST_KEY, first))
    headers |= {"Location": f"/v1/clubs/{club_id}", "Cache-Control": "no-store"}
    return versioned_reply(answer, version, NO_TEXTS, status=201, headers=headers)


async def _found_once(
    request: ApiCall, club_id: UUID, actor: Actor, body: FoundClub, made: NewKey, *, keyed: bool
) -> tuple[Club, int, dict[str, str]]:
    """Found a club, or find the one that an earlier request founded.

    Return the club, its version after the founding, and headers. Raises ``Problem`` (403 for too many clubs from one
    address; 422 for a repetition after 24 hours), and ``KeyReused`` for a different body.
    """
    service = request.service
    own_key = str(club_id) if keyed else None  # because the client's key must not be stored
    before = await in_thread(service.referee.act, club_id, actor, own_key) if own_key else None
    if before is None:
        if actor != "operator":
            service.quotas.count_founding(request)
        try:
            return await _store_founding(service, club_id, actor, body, made, own_key)
        except KeyReused:  # because a concurrent request founded the club
            assert own_key is not None, "only a request with a key can be repeated"
            before = await in_thread(service.referee.act, club_id, actor, own_key)
            if before is None:
                raise
    club = await service.reader.club(club_id, before.last)
    if not compare_digest(club.opened.hash, made.hash):  # because the hash depends on the body
        raise KeyReused
    must_be_recent(club.opened_at)
    return club, before.last, {"Idempotency-Replayed": "true"}


async def _store_founding(
    service: Service, club_id: UUID, actor: Actor, body: FoundClub, made: NewKey, own_key: str | None
) -> tuple[Club, int, dict[str, str]]:
    """Store the founding. Return the club, its version, and headers."""
    async with service.commands.refs_for(club_id, [body.founder.name], act=own_key, kind="name") as (ref,):
        founded = ClubFounded(
            name=body.name,
            currencies=body.currencies,
            timezone=body.timezone,
            founder=ref,
            hash=made.hash,
            expires_at=utc_now().replace(microsecond=0) + KEY_DAYS,
        )
        outcome = await service.commands.do(Command(id=club_id, actor=actor, request=founded, key=own_key))
    version = outcome.events[-1].originator_version
    return club_of(outcome.aggregate), version, {"Idempotency-Replayed": "true"} if outcome.repeated else {}
