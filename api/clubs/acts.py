"""Sends an act to a club."""

from typing import Annotated

from litestar import post
from litestar.params import QueryParameter
from msgspec import Meta

from api.access.clubs import must_have, problem_of_stale_key
from api.clubs.command_handling import ActExecution, ClubActDone
from api.clubs.erasing import ErasureForeseen, preview_reply
from api.http.bodies import Body
from api.http.describe import IDEMPOTENCY_KEY, IF_MATCH, KEY, described
from api.http.params import ClubId
from api.http.problems import Problem
from api.http.replies import Reply
from api.runtime.call import ApiCall
from referee.clubs import commands
from referee.clubs.commands import ClubSent
from referee.clubs.scopes import needed_scope
from referee.store.command import Full, TokenNotValid

_ACT_SAYS = "An act in a club: `act` names its kind and so the other fields."
ActSent = Annotated[ClubSent, Meta(title="ClubAct", description=_ACT_SAYS)]


ACT: Body[ClubSent] = Body(ClubSent)


@post(
    "/clubs/{club:uuid}/acts",
    operation_id="send_club_act",
    summary="Record an act of a club",
    description="Sends one act with a key of the club. The key needs a scope: `open` for evenings, `treasury` "
    "for money, `self` for a member's own affairs, `keys` for all else; otherwise 403 `scope-missing`. With "
    "`self` a member renames themselves, sets their payment numbers (`set_payee`), leaves, and sends and "
    "confirms `pay` as a party. With `self` they also revoke their own keys, and rotate their own keys whose "
    "scopes the sending key has. A program rotates its own key.\n\n"
    "`issue_key` makes a key for the sender or a program, and `rotate_key` makes a new secret. Each secret is "
    "shown only in this answer. For another member `issue_key` makes an invitation: hand its code to the member, "
    "who redeems it within seven days and sees the secret. No caller sees or rotates the key of another member "
    "(403 `others-secret`): revoke it and invite again. For `overlap_seconds` the old secret of a rotated key "
    "reads, and acts in matches, but its acts in the club get 403 `secret-replaced`. A key grants only scopes "
    "that it has (403 `scopes-not-yours`). A revoked key is refused everywhere within two seconds, and its open "
    "invitations end.\n\n"
    "Amounts are in minor units, by default in the club's first currency. `deposit`, `payout`, `fee`, `opening` "
    "and `reverse` post entries in the books. One of the two members sends `pay`. If the plan lists the payment, "
    "`plan` is its id, and a repetition by either member returns the same proposal. A payout is at most the "
    "club's debt to the member. `close_books` closes all entries until now.\n\n"
    "Some acts take two persons. The answer then has a `proposal`, and nothing else changes until another member "
    "sends `confirm`, which decides the act again, or `decline`. These acts always take two persons. The other "
    "party, or a treasurer who is no party, confirms `pay` and its reversal. A key with `treasury` confirms a "
    "payout that takes the member above `payout_limit` within 30 days, and the reversal of a match. The reversal "
    "of a deposit counts as a payout. As soon as two members hold `keys` or `audit`, these acts take two persons "
    "as well: another member's key with `keys`, `treasury`, `audit` or `officiate`; a higher `payout_limit` or "
    "`stake_limit`, fewer `keep_years`, other `currencies`, and `stakes_need` set to `secretary`; "
    "`set_club_payee`; `set_payee` for another member; and `close_books`. A member with `keys` or `audit` "
    "confirms them, and `close_books` also with `treasury`. Before that, one person does them alone, and the "
    "events have `alone`. A program's key never confirms. Its acts about money are proposals, and the member who "
    "confirms one becomes the sender. A caller who may not confirm gets 403: `second-person-needed` for the "
    "sender, otherwise `confirmed-by-member`, `confirmed-with` or `confirmed-by-other`.\n\n"
    "Events hold keyed hashes instead of the names and numbers of members; a hash is useless once `erase` has "
    "deleted its text. A caller with a key of the club reads the name, and an authorised caller the number. A "
    "replaced number is deleted at once.\n\n"
    "`erase` deletes the names and numbers of a former member, and the texts that the member wrote or that "
    "only name the member as an official. In other texts it replaces each name of the member by `█`: as whole words, "
    "only in matches in which the member took part, and only in texts that are not older than the name. It replaces "
    "the numbers in all texts of the club. `erased` counts the deleted and changed texts. With `preview` "
    "nothing changes, and 200 lists the texts.\n\n"
    "`Idempotency-Key` makes a repetition safe: it gets the first answer, with the same secret. An act that "
    "makes a secret needs 16 characters or more, and does not store them, because with the body they yield the "
    "secret. `If-Match` makes the act valid only at that version.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(
        body=ActSent,
        gives=ClubActDone,
        status=201,
        says="The act is stored.",
        beside={200: ("With `preview`: the changes that the erasure would make.", ErasureForeseen)},
        headers=("ETag", "Idempotency-Replayed"),
        takes=(IDEMPOTENCY_KEY, IF_MATCH),
        errors=(400, 401, 403, 404, 409, 412, 413, 415, 422, 503),
    ),
)
async def send_club_act(
    request: ApiCall,
    club_id: ClubId,
    preview: Annotated[
        bool, QueryParameter(description="Only for `erase`: list the changes, store nothing.")
    ] = False,
) -> Reply:
    service = request.service
    caller = await service.club_access.caller(request, club_id)
    sent = await ACT.read(request)
    makes_secret = isinstance(sent, commands.IssueKeySent | commands.RotateKeySent)
    key = request.secret_idempotency_key if makes_secret else request.idempotency_key
    must_have(caller, needed_scope(caller.club.state, sent, caller.actor))
    if preview:
        if not isinstance(sent, commands.EraseSent):
            raise Problem("no_preview")
        return await preview_reply(service, caller, sent, request.expected_version)
    try:
        return await ActExecution(service, caller, key, request.expected_version).execute(sent)
    except TokenNotValid:
        # The desk gives no reason, so a second check of the key finds it.
        await service.reader.newest_club(caller.club)
        raise problem_of_stale_key(await service.club_access.caller(request, club_id)) from None
    except Full as full:
        raise Problem("club_events_full", most=full.most) from None
