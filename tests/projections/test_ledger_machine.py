"""The ledger over clubs, matches and money acts in any order, with restarts and rebuilds in between.

Results of matches are stored as events only, like those of other processes; clubs act through a desk.
"""

import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace
from sqlalchemy import select

from api.money.decision_basis import WITH_BASIS, basis_of
from projections.closings import digest
from projections.follow.engine import engine_for, engine_for_writes
from projections.follow.projection import apply_page, prepare, rebuild
from projections.ledger import Ledger
from projections.matches import Matches
from referee.actors import Actor
from referee.clubs import commands
from referee.clubs.facts import account_of
from referee.events import MatchAbandoned, MatchClosed, MatchWon, Stakes
from referee.officials.events.corrections import Ended, ProtocolCorrected, Why
from referee.officials.events.seating import StakesAgreed
from referee.refusals import Refused
from referee.store.clock import utc_now
from referee.store.command import Command, Outcome
from referee.store.desk import Desk
from referee.store.store import construct
from referee.visibility import Event, Recorded
from referee.wire_types import EXACT_MAX
from tests.projections.filled_log import content, head, reader
from tests.support.random_matches import opening
from tests.support.salted_rows import row_of
from tests.support.stored_clubs import Club

MEMBERS = 5
members = st.integers(1, MEMBERS)
amounts = st.integers(1, 1000)
vias: Any = st.sampled_from(("cash", "bank"))
currencies: Any = st.sampled_from((None, "SEK", "EUR"))
evenings = st.none() | st.just(1)
HUGE = 4 * 10**15
amount_won = st.integers(-500, 500) | st.sampled_from((-HUGE, HUGE))
won = st.lists(amount_won, min_size=3, max_size=3).map(tuple)
sizes = st.integers(1, 7)


class Books(RuleBasedStateMachine):
    """A club, its matches, and the ledger that follows them."""

    @initialize(limit=st.none() | st.integers(0, 1500))
    def founded(self, limit: int | None) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.url = f"sqlite:///{Path(self.folder.name) / 'knacka.db'}"
        self.store = construct(self.url)
        self.referee = self.store.__enter__()
        self.desk = Desk(self.referee)
        self.club = Club(self.desk, members=MEMBERS)
        self.keys = {
            member: self.club.key("treasury" if member in (1, 2) else "play", member=member)
            for member in range(1, MEMBERS + 1)
        }
        self.club.do(commands.Set(currencies=("SEK", "EUR"), payout_limit=limit))
        self.club.do(commands.OpenEvening(on=utc_now().date(), season="2026/27"))
        self.matches: dict[UUID, tuple[int, tuple[int, ...], int]] = {}
        self.seats: dict[UUID, tuple[int, ...]] = {}
        self.waiting: dict[UUID, set[int]] = {}
        self.closed: dict[int, str] = {}
        self.at = 0
        self._start()
        for first in (1, 3):
            self.is_opened(first, "SEK", money=True)

    def _start(self) -> None:
        self.engine, self.ledger = engine_for(self.url), Ledger()
        self.at = prepare(self.engine, [self.ledger])["ledger"].position

    def teardown(self) -> None:
        if hasattr(self, "desk"):
            self.engine.dispose()
            self.desk.close()
            self.store.__exit__(None, None, None)
            self.folder.cleanup()

    # Following

    @rule(size=sizes)
    def follows(self, size: int) -> None:
        """Apply the remaining rows in pages of this size."""
        if page := reader(self.referee)(self.at, size):
            with engine_for_writes(self.engine).begin() as connection:
                self.at, _ = apply_page(connection, self.ledger, self.ledger.key, self.at, page, False)

    def caught_up(self) -> None:
        while self.at < head(self.referee):
            self.follows(50)

    @rule()
    def restarts(self) -> None:
        self.engine.dispose()
        self._start()

    @rule(size=sizes)
    def is_built_anew(self, size: int) -> None:
        self.caught_up()
        before = content(self.engine, [self.ledger])
        rebuild(reader(self.referee), self.engine, self.ledger, page=size)
        assert content(self.engine, [self.ledger]) == before

    # The club

    def act(self, sent: Any, member: int) -> Outcome | None:
        """Act on the ledger's present state, as the service does, and again under the same key."""
        actor: Actor = f"key:{self.keys[member][26:].partition('_')[0]}"
        if type(sent) in WITH_BASIS:
            self.caught_up()
            club: Any = self.desk.get(self.club.id)
            with self.engine.connect() as connection:
                says = basis_of(self.ledger, Matches(), connection, club, sent)
            names = sent.__struct_fields__
            sent = WITH_BASIS[type(sent)](**{name: getattr(sent, name) for name in names}, **says)
        command = Command(id=self.club.id, actor=actor, request=sent, key=uuid4().hex)
        try:
            done = self.desk.submit(command).result(30)
        except Refused:
            return None
        again = self.desk.submit(command).result(30)
        assert (again.repeated, again.events) == (True, done.events)
        return done

    @rule(member=members, amount=amounts, via=vias, unit=currencies, evening=evenings)
    def deposits(self, member: int, amount: int, via: Any, unit: Any, evening: Any) -> None:
        self.act(commands.Deposit(member=member, amount=amount, via=via, currency=unit, evening=evening), 1)

    @rule(member=members, amount=amounts, via=vias, unit=currencies, by=members)
    def pays_out(self, member: int, amount: int, via: Any, unit: Any, by: int) -> None:
        self.act(commands.PayoutSent(member=member, amount=amount, via=via, currency=unit), by)

    @rule(payer=members, payee=members, amount=amounts, unit=currencies, by=members)
    def pays(self, payer: int, payee: int, amount: int, unit: Any, by: int) -> None:
        self.act(commands.Pay(payer=payer, payee=payee, amount=amount, currency=unit), by)

    @rule(number=st.integers(1, 4), by=members, decline=st.booleans())
    def answers(self, number: int, by: int, decline: bool) -> None:
        self.act(commands.Decline(proposal=number) if decline else commands.ConfirmSent(proposal=number), by)

    @rule(back=st.integers(0, 4))
    def reverses(self, back: int) -> None:
        """Reverse one of the last entries; that of a match needs two members."""
        self.caught_up()
        with self.engine.connect() as connection:
            last = self.ledger.last_number(connection, self.club.id)
        done = self.act(commands.ReverseSent(entry=max(1, last - back)), 1)
        if done is not None and (waits := getattr(done.events[0].event, "proposal", None)):
            self.act(commands.ConfirmSent(proposal=waits), 2)

    @rule(account=st.sampled_from(("cash", "member:3", "pot")), amount=st.integers(-50, 50))
    def opens(self, account: str, amount: int) -> None:
        self.act(commands.OpenAccount(account=account, amount=amount), 1)

    @rule()
    def closes(self) -> None:
        done = self.act(commands.CloseBooksSent(label="2026"), 2)
        if done is not None:
            (closing,) = done.events
            event: Any = closing.event
            self.closed[event.closing] = event.digest

    # Matches

    def _store(self, match_id: UUID, number: int, event: Event) -> None:
        recorded = Recorded(match_id, number, utc_now(), "official", f"~{uuid4().hex}", "", "", event)
        self.referee.recorder.insert_events([row_of(recorded)])

    @rule(first=st.integers(1, MEMBERS - 2), unit=st.sampled_from(("SEK", "EUR")), money=st.booleans())
    def is_opened(self, first: int, unit: str, money: bool) -> None:
        match_id, seats = uuid4(), (first, first + 1, first + 2)
        opened = opening(players=3, stakes=Stakes(currency=unit, unit=100) if money else None)
        self._store(match_id, 1, replace(opened, club=self.club.id, evening=1, members=seats))
        if money:
            self.matches[match_id], self.seats[match_id] = (1, (), 0), seats
            self.waiting[match_id] = {0, 1, 2}

    @rule(which=st.integers(0, 2), some=st.sets(st.integers(0, 2), min_size=1) | st.just({0, 1, 2}))
    def agree(self, which: int, some: set[int]) -> None:
        """Have seats agree to the stakes, even if the match is over."""
        if which < len(self.matches):
            match_id = list(self.matches)[which]
            number, amounts, _ = self.matches[match_id]
            self._store(match_id, number + 1, StakesAgreed(seats=tuple(sorted(some)), how="secretary"))
            self.matches[match_id] = number + 1, amounts, 0
            self.waiting[match_id] -= some

    @rule(which=st.integers(0, 2), amounts=won, how=st.sampled_from(("won", "closed", "abandoned", "nothing")))
    def ends(self, which: int, amounts: Any, how: str) -> None:
        """End a match. It may end a second time after it was reopened."""
        events: dict[str, Event] = {
            "won": MatchWon(seat=0, by="duel", rule="B74", points=(0, 0, 0), settlement=amounts),
            "closed": MatchClosed(
                rule="D69", pot_before=0, shares=(0,) * 3, pot=0, before=(0,) * 3, points=(0,) * 3, settlement=amounts
            ),
            "abandoned": MatchAbandoned(deal=1, settlement=amounts),
            "nothing": MatchAbandoned(deal=1),
        }
        self._happens(which, events[how], () if how == "nothing" else amounts)

    @rule(which=st.integers(0, 2), amounts=won, goes_on=st.booleans())
    def is_corrected(self, which: int, amounts: Any, goes_on: bool) -> None:
        ended = None if goes_on else Ended(by="duel", rule="B74", event=2, seat=0, settlement=amounts)
        corrected: Any = {
            "case": None,
            "deal": 1,
            "why": Why(rule="J9"),
            "lines": (),
            "struck": (),
            "points": (0, 0, 0),
        }
        event = ProtocolCorrected(**corrected, eliminated=(), dealer=0, next_deal=1, won=ended)
        self._happens(which, event, () if goes_on else amounts)

    def _happens(self, which: int, event: Event, amounts: tuple[int, ...]) -> None:
        if which < len(self.matches):
            match_id = list(self.matches)[which]
            number = self.matches[match_id][0] + 1
            self._store(match_id, number, event)
            self.matches[match_id] = number, amounts, 0

    # Invariants

    @invariant()
    def the_books_are_right(self) -> None:
        if not hasattr(self, "engine"):
            return
        with self.engine.connect() as connection:
            entries = list(self.ledger.read(connection, self.club.id))
            now = self.ledger.balances_now(connection, self.club.id)
            running = list(connection.execute(select(self.ledger.postings).order_by(self.ledger.postings.c.number)))
            closings = self.ledger.closings_of(connection, self.club.id)
            by_day = [entry.date for entry in entries]
        assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
        assert now[0] == len(entries)
        assert by_day == sorted(by_day)
        sums: dict[tuple[str, str], int] = defaultdict(int)
        for entry in entries:
            assert entry.postings
            assert sum(one.amount for one in entry.postings) == 0
            for one in entry.postings:
                sums[entry.currency, one.account] += one.amount
        assert {(one.currency, one.account): one.amount for one in now[1]} == sums
        for unit in ("SEK", "EUR"):
            assert sum(amount for (currency, _), amount in sums.items() if currency == unit) == 0
        standing: dict[tuple[str, str], int] = defaultdict(int)
        for row in running:
            assert abs(row.balance) <= EXACT_MAX
            standing[row.currency, row.account] += row.amount
            assert row.balance == standing[row.currency, row.account]
        back = [entry.reverses for entry in entries if entry.reverses is not None]
        assert len(back) == len(set(back))
        for entry in entries:
            if entry.reverses is not None:
                was = entries[entry.reverses - 1]
                assert was.kind != "reverse"
                both = {one.account: one.amount for one in was.postings}
                assert {one.account: -one.amount for one in entry.postings} == both
        before, through = "0" * 64, 0
        for one in closings:
            assert one.holds
            before, through = digest(before, entries[through : one.through]), one.through
            assert before == one.digest == self.closed[one.closing]

    @rule()
    def each_match_stands_as_it_came_to(self) -> None:
        """Check that only entries that are not reversed count, and that a treasurer's reversal remains."""
        self.caught_up()
        matches = self.ledger.matches.c
        with self.engine.connect() as connection:
            entries = list(self.ledger.read(connection, self.club.id))
            kept = {row.match: row.money for row in connection.execute(select(matches.match, matches.money))}
        taken_back = {entry.reverses: entry for entry in entries if entry.reverses is not None}
        for match_id, (_, amounts, _) in self.matches.items():
            assert set(kept[match_id].waiting_for) == self.waiting[match_id]
            if self.waiting[match_id]:
                amounts = ()
            if kept[match_id].beyond:  # the earlier entry remains
                amounts = kept[match_id].amounts
            made = [entry for entry in entries if entry.kind == "match" and entry.cause.startswith(str(match_id))]
            stand = [entry for entry in made if entry.number not in taken_back]
            expected = {account_of(m): -n for m, n in zip(self.seats[match_id], amounts, strict=False) if n}
            if sum(amounts):
                expected["pot"] = sum(amounts)
            if not expected:
                assert stand == []
            elif stand:
                (entry,) = stand
                assert {one.account: one.amount for one in entry.postings} == expected
            else:
                assert made, "the amounts are posted"
                assert str(taken_back[made[-1].number].by).startswith("key:"), "the treasurer took it back"


TestBooks = Books.TestCase
TestBooks.settings = settings(
    max_examples=-(-settings.default.max_examples // 5),
    stateful_step_count=50,
    suppress_health_check=list(HealthCheck),
)
