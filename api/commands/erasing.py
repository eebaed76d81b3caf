"""``knacka erase``: deletes the name and the texts of a former member permanently."""

import argparse

from api.commands.operator_store import (
    OPERATOR,
    NotDone,
    OperatorStore,
    add_club_argument,
    argument_type,
    open_store,
    refusal_text,
)
from api.personal_data.erasures import Plan, prepare_erasure
from api.settings import Settings
from referee.clubs.commands import Erase, EraseSent, MemberSent
from referee.refusals import Refused
from referee.store.club import Club
from referee.store.command import Stale

ERASE = (
    "Erases a member who has left. Records how many texts change. Deletes the member's names and payment numbers "
    "and the texts that the member wrote. Replaces the names in other members' texts, as whole words, and only in "
    "matches that the member took part in; replaces the payment numbers in all texts. This cannot be undone. "
    "The member's number stays in all matches. "
    "Refused, as by the service, while the member has not left, plays in a match that is not over, owes or is owed "
    "money, has an entry that is not closed, or the club must still keep its books. "
    "Run it again to finish an interrupted erasure, or to erase later texts of the member. "
    "Backups do not change: delete the older ones, or erase again after you restore one."
)
PREVIEW = "only list the texts that would be deleted (-) and changed (+ the new text), and record no erasure"


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    erasing = commands.add_parser("erase", help="delete the name and texts of a former member", description=ERASE)
    add_club_argument(erasing)
    erasing.add_argument("member", type=argument_type(MemberSent), metavar="MEMBER", help="the member's number")
    erasing.add_argument("--preview", action="store_true", help=PREVIEW)
    erasing.set_defaults(run=erase)


def erase(settings: Settings, arguments: argparse.Namespace) -> int:
    """Complete recorded erasures. Then record and carry out an erasure, or list its changes.

    Raises ``NotDone`` if it is refused or the club changes. An already erased member is no error.
    """
    with open_store(settings.database_url) as store:
        club, member = store.club(arguments.club), arguments.member
        done, sent = store.erasures.carry_out(club).get(member, 0), EraseSent(member=member)
        try:
            basis = store.basis_of(club, sent)
            request, plan = prepare_erasure(store.erasures, store.referee, club, OPERATOR, sent, basis)
            if not arguments.preview:
                _record_and_carry_out(store, club, request, plan)
        except Refused as refused:
            if refused.code != "member_erased":
                raise NotDone(refusal_text(refused)) from None
            more = f"member {member} was erased before; {done} names and texts that were left are erased now"
            print(more if done else "the member was erased before; no names or texts were left")
            return 0
        except Stale:
            raise NotDone("not done: the club was changed at the same time; try again") from None
    counts = f"{plan.deleted_count} texts deleted, {plan.changed_count} changed"
    if arguments.preview:
        print(f"member {member} would be erased: {counts}")
        for one in plan.texts:
            print(f"match {one.match}: {f'- {one.before}' if one.after is None else f'+ {one.after}'}")
    else:
        print(f"member {member} is erased: {counts}")
    return 0


def _record_and_carry_out(store: OperatorStore, club: Club, request: Erase, plan: Plan) -> None:
    store.erasures.keep(plan)
    store.submit(club.id, request, club.version)
    store.erasures.carry_out(store.club(club.id, club.version + 1))
