"""``knacka erase``: the name of somebody who has left a club, and what he wrote, are deleted for ever."""

import argparse

from api.commands.operating import NotDone, checked, club_argument, operating, said_of
from api.settings import Settings
from referee.clubs.asked import Erase, EraseSent, MemberSent
from referee.refusals import Refused
from referee.store.command import Stale

ERASE = (
    "Erases a member who has left. Stores that it was done, then deletes his names, the texts that he wrote and "
    "those of others in the club in which one of his names stands; nothing brings them back. His number stays in "
    "all that he played. Refused as the service refuses it: while he is a member, owes or is owed "
    "something, an entry on his account is not closed, or the books have to be kept. "
    "Done once more it deletes what was left where it was broken off. Backups keep what was in them: delete those "
    "that are older, or erase again after one has been restored."
)


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The command."""
    erasing = commands.add_parser("erase", help="delete the name and texts of a former member", description=ERASE)
    club_argument(erasing)
    erasing.add_argument("member", type=checked(MemberSent), metavar="MEMBER", help="by number")
    erasing.set_defaults(run=erase)


def erase(settings: Settings, given: argparse.Namespace) -> int:
    """First on record, then in fact."""
    with operating(settings.database_url) as store:
        club, number = store.club(given.club), given.member
        try:
            says = store.books_say(club, EraseSent(member=number))
            store.do(club.id, Erase(member=number, **says), club.version)
        except Refused as refused:
            if refused.code != "member_erased":
                raise NotDone(said_of(refused)) from None
        except Stale:
            raise NotDone("not done: the club has just been changed; try again") from None
        club = store.club(club.id, club.version + 1)
        member = club.standing.members[number - 1]
        assert member.erased, "it stands on record"
        texts = store.names.erase(club.id, number, member.names)
    print(f"member {number} is erased: {texts} texts deleted")
    return 0
