"""An erasure that is on record but was not carried out, as after a crash between the two steps."""

from uuid import UUID

from api.personal_data.erasures import Erasures, Plan, prepare_erasure
from api.personal_data.names import Names
from referee.clubs.commands import EraseSent
from referee.store.club import Club
from referee.store.command import Command
from referee.store.desk import Desk
from referee.store.store import Referee, construct


def put_on_record(url: str, club_id: UUID, member: int) -> Plan:
    """Put the erasure of a former member on record in a store."""
    with construct(url) as referee:
        desk, names = Desk(referee), Names(url)
        names.prepare()
        try:
            return recorded(referee, desk, Erasures(names), club_id, member)[0]
        finally:
            desk.close()
            names.close()


def recorded(
    referee: Referee, desk: Desk, erasures: Erasures, club_id: UUID, member: int, *balances: int
) -> tuple[Plan, Club]:
    """Put the erasure of a former member on record. Return its plan, and the club after it."""
    club = desk.get(club_id)
    assert isinstance(club, Club)
    says = {"balances": balances}
    request, plan = prepare_erasure(erasures, referee, club, "operator", EraseSent(member=member), says)
    erasures.keep(plan)
    outcome = desk.submit(Command(id=club_id, actor="operator", request=request)).result(30)
    assert isinstance(outcome.aggregate, Club)
    return plan, outcome.aggregate
