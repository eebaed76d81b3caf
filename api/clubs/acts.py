"""What is done in a club."""

from typing import Annotated

from litestar import post
from litestar.params import QueryParameter
from msgspec import Meta

from api.access.clubs import must_have, why_not_taken
from api.clubs.command_handling import ClubActDone, Doing
from api.clubs.erasing import ErasureForeseen, foreseen
from api.http.bodies import Body
from api.http.describe import IDEMPOTENCY_KEY, IF_MATCH, KEY, described
from api.http.headers import Req
from api.http.params import ClubId
from api.http.problems import Problem
from api.http.replies import Reply
from api.http.writes import expected_by, key_of, opening_key_of
from api.runtime.service import service_of
from referee.clubs import commands
from referee.clubs.commands import ClubSent
from referee.clubs.scopes import needs
from referee.store.command import Full, NotHeld

_ACT_SAYS = "What is done in a club: `act` tells what, and which fields go with it."
ActSent = Annotated[ClubSent, Meta(title="ClubAct", description=_ACT_SAYS)]


ACT: Body[ClubSent] = Body(ClubSent)


@post(
    "/clubs/{club:uuid}/acts",
    operation_id="send_club_act",
    summary="Do something in a club",
    description="One act, with a key of the club that has the scope for it: `open` for evenings, `treasury` for "
    "money, `self` for what members do about themselves, else `keys`. With `self` a member renames themselves, "
    "sets how they are paid (`set_payee`), leaves, sends and confirms `pay` as a party, and revokes keys of their "
    "own or rotates one that is good for no more; a program rotates its own key. Without it 403 "
    "`scope-missing`.\n\n"
    "`issue_key` makes a key for oneself or a program, and `rotate_key` another secret for one; each is shown "
    "this once. For another member `issue_key` makes an invitation: hand its code to the member, who redeems it "
    "within seven days and is shown the secret. Nobody sees or rotates the key of another member (403 "
    "`others-secret`): revoke it, and invite again. For `overlap_seconds` the old secret of a rotated key reads, "
    "and acts in matches, but does nothing new in the club: 403 `secret-replaced`. No key grants what it is not "
    "good for itself (403 `scopes-not-yours`). A key that is revoked is refused everywhere within two seconds, "
    "and what it invited to cannot be redeemed.\n\n"
    "Money counts in minor units, in the club's first `currency` where none is named. `deposit`, `payout`, `fee`, "
    "`opening` and `reverse` are entries of the books. `pay` is sent by one of the two members. A payment of the "
    "plan names it as `plan`: sent again, by either of the two, it is answered with the same proposal. A payout "
    "is at most what the member is to receive. `close_books` locks all entries until now.\n\n"
    "Some acts take two persons. Then the answer has a `proposal`, and nothing else has happened: another member "
    "sends `confirm`, and the act is decided again at that moment, or `decline`. Always: `pay` and its reversal, "
    "which a party confirms, or a treasurer who is neither; a payout that takes the member above `payout_limit` "
    "within 30 days, and the reversal of a match, both confirmed with `treasury`. The reversal of a deposit is a "
    "payout. As soon as two members hold `keys` or `audit`: another member's key with `keys`, `treasury`, `audit` "
    "or `officiate`; a higher `payout_limit` or `stake_limit`, fewer `keep_years`, other `currencies`, and "
    "`stakes_need` set to `secretary`; `set_payee` for the club or another member; and `close_books`. A member "
    "with `keys` or `audit` confirms these, and `close_books` one with `treasury` as well. Until then one person "
    "does them alone, and the events say so (`alone`). A key without a member never confirms. Whatever it sends "
    "about money is a proposal: a member who confirms it sends the act. 403 `second-person-needed` to the sender, "
    "`confirmed-by-member`, `confirmed-with` or `confirmed-by-other` to others.\n\n"
    "Names and numbers of members are not in the events: what stands there of one is worthless once `erase` has "
    "deleted it. Whoever shows a key of the club reads the name in its place, and who may see it the number; a "
    "number that another has taken the place of is deleted at once.\n\n"
    "`erase` deletes the names and numbers of a former member and the texts that the member wrote. In texts of "
    "others it replaces each name of the member by `█`: as whole words, only in matches that the member took part "
    "in, and only in texts that are not older than the name. It replaces the numbers in all texts of the club. "
    "`erased` in the answer says how many texts are deleted and changed. With `preview` nothing is done, and 200 "
    "lists them.\n\n"
    "`Idempotency-Key` makes a repeat safe: it is answered as the first was, with the same key where one was "
    "made; for that it has 16 characters or more, and is not stored, for whoever knows it and the body may ask "
    "again. `If-Match` makes the act hold only for the version that the caller has seen.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(
        body=ActSent,
        gives=ClubActDone,
        status=201,
        says="Done, and stored.",
        beside={200: ("With `preview`: what would change.", ErasureForeseen)},
        headers=("ETag", "Idempotency-Replayed"),
        takes=(IDEMPOTENCY_KEY, IF_MATCH),
        errors=(400, 401, 403, 404, 409, 412, 413, 415, 422, 503),
    ),
)
async def send_club_act(
    request: Req,
    club: ClubId,
    preview: Annotated[bool, QueryParameter(description="Of `erase`: only say what would change.")] = False,
) -> Reply:
    """Does something in a club."""
    service = service_of(request)
    caller = await service.club_access.caller(request, club)
    sent = await ACT.read(request)
    making = isinstance(sent, commands.IssueKeySent | commands.RotateKeySent)
    key = opening_key_of(request) if making else key_of(request)
    must_have(caller, needs(caller.club.standing, sent, caller.actor))
    if preview:
        if not isinstance(sent, commands.EraseSent):
            raise Problem("no_preview")
        return await foreseen(service, caller, sent, expected_by(request))
    try:
        return await Doing(service, caller, key, expected_by(request)).do(sent)
    except NotHeld:  # the club has changed since the key was checked: a second check says why
        await service.newest_club(caller.club)
        raise why_not_taken(await service.club_access.caller(request, club)) from None
    except Full as full:
        raise Problem("club_events_full", most=full.most) from None
