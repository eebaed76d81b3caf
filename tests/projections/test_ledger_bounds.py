"""No balance leaves the range that every reader of JSON reads exactly: ±(2^53 - 1)."""

from uuid import UUID, uuid4

from msgspec.structs import replace
from sqlalchemy import Connection, Engine, select

from api.runtime.projections import decode_row
from projections.audit.findings import Findings
from projections.audit.reading import Rows
from projections.follow.follow import rebuild
from projections.ledger import Ledger
from referee.clubs import commands
from referee.clubs.commands import AMOUNT_MAX
from referee.events import MatchWon, Stakes
from referee.officials.events.corrections import Ended, ProtocolCorrected, Why
from referee.store.desk import Desk
from referee.store.store import Referee
from referee.wire_types import EXACT_MAX
from tests.projections.filled_log import head, reader
from tests.projections.test_audit_tree import NoTexts
from tests.projections.test_ledger import store
from tests.support.agreed_stakes import AGREED
from tests.support.random_matches import opening
from tests.support.stored_clubs import Club

HUGE = 5 * 10**15


class Books:
    """A club with matches of huge amounts, and its ledger."""

    def __init__(self, referee: Referee, engine: Engine) -> None:
        self.referee, self.engine, self.ledger = referee, engine, Ledger()
        self.desk = Desk(referee)
        self.club = Club(self.desk)
        opened = opening(players=3, stakes=Stakes(currency="SEK", unit=100))
        self.opened = replace(opened, club=self.club.id, members=(1, 2, 3))

    def opens(self) -> UUID:
        match_id = uuid4()
        store(self.referee, match_id, 1, self.opened)
        store(self.referee, match_id, 2, AGREED)
        return match_id

    def won(self, settlement: tuple[int, ...]) -> UUID:
        match_id = self.opens()
        store(
            self.referee,
            match_id,
            3,
            MatchWon(seat=0, by="duel", rule="B74", points=(0, 0, 0), settlement=settlement),
        )
        return match_id

    def corrected(self, match_id: UUID, number: int, settlement: tuple[int, ...]) -> None:
        event = ProtocolCorrected(
            case=None,
            deal=1,
            why=Why(rule="J9"),
            lines=(),
            struck=(),
            points=(0, 0, 0),
            eliminated=(),
            dealer=0,
            next_deal=1,
            won=Ended(by="duel", rule="B74", event=3, seat=0, settlement=settlement),
        )
        store(self.referee, match_id, number, event)

    def balances(self) -> dict[str, int]:
        """Return the balances of a newly built ledger in which no balance was ever too large."""
        rebuild(reader(self.referee), self.engine, self.ledger)
        with self.engine.connect() as connection:
            assert self.largest(connection) <= EXACT_MAX
            return {one.account: one.amount for one in self.ledger.balances_now(connection, self.club.id)[1]}

    def largest(self, connection: Connection) -> int:
        postings = self.ledger.postings.c
        running = connection.execute(select(postings.balance, postings.amount)).all()
        return max(max(abs(balance), abs(amount)) for balance, amount in running)


def test_a_match_that_would_take_a_balance_too_far_is_not_entered(referee: Referee, engine: Engine) -> None:
    books = Books(referee, engine)
    books.won((-HUGE, HUGE, 0))
    books.won((-HUGE, HUGE, 0))
    assert books.balances() == {"member:1": HUGE, "member:2": -HUGE}
    books.won((HUGE, 0, -HUGE))
    assert books.balances() == {"member:1": 0, "member:2": -HUGE, "member:3": HUGE}
    books.desk.close()


def test_a_match_that_would_take_the_pot_too_far_is_not_entered(referee: Referee, engine: Engine) -> None:
    books = Books(referee, engine)
    books.won((-HUGE, -HUGE, 0))
    books.won((100, -100, 0))
    assert books.balances() == {"member:1": -100, "member:2": 100}
    books.desk.close()


def test_a_correction_that_comes_back_is_entered(referee: Referee, engine: Engine) -> None:
    books = Books(referee, engine)
    books.won((-HUGE, HUGE, 0))
    second = books.won((-HUGE, HUGE, 0))
    books.corrected(second, 4, (-100, 100, 0))
    assert books.balances() == {"member:1": HUGE + 100, "member:2": -HUGE - 100}
    books.corrected(second, 5, (-HUGE, HUGE, 0))
    assert books.balances() == {"member:1": HUGE + 100, "member:2": -HUGE - 100}, "the last that could be entered"
    books.desk.close()


def test_a_match_is_not_taken_back_if_that_goes_too_far(referee: Referee, engine: Engine) -> None:
    books = Books(referee, engine)
    books.won((-HUGE, HUGE, 0))
    second = books.won((HUGE, -HUGE, 0))
    books.won((-HUGE, HUGE, 0))
    books.corrected(second, 4, (0, 0, 0))
    assert books.balances() == {"member:1": HUGE, "member:2": -HUGE}
    books.desk.close()


def test_the_audit_lists_what_was_left_out(referee: Referee, engine: Engine) -> None:
    books = Books(referee, engine)
    books.won((-HUGE, HUGE, 0))
    second = books.won((-HUGE, HUGE, 0))
    with Rows(books.club.id, decode_row, lambda _: None, NoTexts(), lambda _: (), Findings(), {}) as rows:
        rows.read(reader(referee), head(referee))
        (left,) = rows.results_left_out()
        assert (left.match, left.event, left.why) == (str(second), 3, "balance_too_large")
    books.desk.close()


def test_an_act_after_the_largest_match_sums_fits(referee: Referee, engine: Engine) -> None:
    books = Books(referee, engine)
    books.won((-EXACT_MAX, EXACT_MAX, 0))
    most = EXACT_MAX - 10**5 * AMOUNT_MAX - 10**15
    books.won((-most, most, 0))
    books.club.do(commands.Fee(member=1, amount=AMOUNT_MAX))
    assert books.balances() == {"member:1": most + AMOUNT_MAX, "member:2": -most, "fees": -AMOUNT_MAX}
    books.desk.close()
