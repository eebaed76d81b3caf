"""The matches and cases that callers see in lists: each list compared with a check of every single match."""

import itertools
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from msgspec.structs import replace
from sqlalchemy import Connection, Engine

from api.clubs.standings import IN_MONEY
from projections.cases import Cases
from projections.follow.follow import prepare
from projections.matches import Matches, Standing, StandingsRow
from projections.visibility import UNAUTHENTICATED, Sight
from referee.events import KnockDismissed, KnockUpheld, MatchAbandoned, MatchOpened, MatchWon, Stakes
from referee.officials.events.cases import CaseAppealed, CaseOpened, CaseRuled, CaseWithdrawn
from referee.officials.events.corrections import Ended, ProtocolCorrected
from referee.tokens import encrypt_or_decrypt, hash_in_match
from referee.visibility import Event, Recorded
from tests.projections.filled_log import page_of
from tests.support.random_matches import opening

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
ONE, OTHER = uuid4(), uuid4()
GAME = opening().ruleset


SECRET = bytes(range(32))
"""The secret of the store."""


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    """Yield a transaction on the projections."""
    prepare(engine, [Matches(), Cases()])
    with engine.begin() as connection:
        yield connection


def of_club(**fields: Any) -> MatchOpened:
    """Return a match of a club with three of its members."""
    fields = {"club": ONE, "evening": 1, "members": (5, 1, 12), "visibility": "club"} | fields
    names = tuple(f"M{member}" for member in fields["members"])
    return replace(opening(players=3), players=names, **fields)


class Log:
    """Histories of matches, one event after the other."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.matches, self.cases = connection, Matches(), Cases(secret=lambda: SECRET)
        self.versions: dict[UUID, int] = {}
        self.at = NOON

    def add(self, match: UUID, *events: Event) -> UUID:
        recorded = []
        for event in events:
            self.versions[match] = number = self.versions.get(match, 0) + 1
            self.at += timedelta(seconds=1)
            recorded.append(Recorded(match, number, self.at, "official", f"act-{number}", "", "", event))
        page = page_of(recorded)
        self.matches.apply(self.connection, page)
        self.cases.apply(self.connection, page)
        return match


@pytest.fixture
def log(connection: Connection) -> Log:
    return Log(connection)


def may_see(sight: Sight, opened: MatchOpened) -> bool:
    """Return whether a match is visible, by the rule for one match."""
    if opened.visibility == "public":
        return True
    if sight.club is None or opened.club != sight.club:
        return False
    return opened.visibility == "club" or sight.whole_club or sight.member in opened.members


SIGHTS = (
    UNAUTHENTICATED,
    Sight(credential_sha256="a" * 64),
    Sight(club=ONE),
    Sight(club=ONE, whole_club=True),
    Sight(club=ONE, member=5, sits=5),
    Sight(club=ONE, member=7, sits=7),
    Sight(club=OTHER, whole_club=True, officiates=True),
    Sight(club=uuid4(), whole_club=True),
)


@pytest.mark.parametrize("seed", range(3))
def test_a_list_has_what_the_caller_may_see_and_nothing_else(log: Log, seed: int):
    chance = random.Random(seed)
    opened: dict[UUID, MatchOpened] = {}
    at: dict[UUID, datetime] = {}
    for _ in range(60):
        match = uuid4()
        if chance.random() < 0.3:
            opened[match] = replace(opening(players=3), visibility=chance.choice(("public", "private")))
        else:
            opened[match] = of_club(
                club=chance.choice((ONE, OTHER)),
                evening=chance.randint(1, 3),
                members=tuple(chance.sample(range(1, 13), 3)),
                visibility=chance.choice(("public", "club", "private")),
            )
        log.add(match, opened[match])
        at[match] = log.at
    every: tuple[dict[str, Any], ...] = (
        {},
        {"club": ONE},
        {"club": OTHER},
        {"club": ONE, "evening": 2},
        {"club": ONE, "member": 5},
        {"club": ONE, "member": 7},
        {"opened_from": NOON + timedelta(seconds=20), "opened_to": NOON + timedelta(seconds=45)},
    )
    for sight in SIGHTS:
        for filters in every:
            wanted = {
                match
                for match, first in opened.items()
                if may_see(sight, first)
                and ("club" not in filters or first.club == filters["club"])
                and ("evening" not in filters or first.evening == filters["evening"])
                and ("member" not in filters or filters["member"] in first.members)
                and ("opened_from" not in filters or filters["opened_from"] <= at[match] < filters["opened_to"])
            }
            found: list[UUID] = []
            cursor, limit = None, chance.randint(2, 9)
            while True:
                page, cursor = log.matches.page(log.connection, sight, limit=limit, after=cursor, **filters)
                assert len(page) <= limit
                found += [entry.match for entry in page]
                if cursor is None:
                    break
            assert found == [match for match in opened if match in wanted], (sight, filters)


def test_a_member_is_not_found_by_their_placeholder(log: Log):
    """A member of one club is not found in matches of a different club either."""
    here = log.add(uuid4(), of_club(visibility="public"))
    log.add(uuid4(), of_club(visibility="public", club=OTHER))
    assert log.matches.page(log.connection, player="M5") == ((), None)
    (entry,), _ = log.matches.page(log.connection, club=ONE, member=5)
    assert entry.match == here


def knocked(seat: int, case: int, upheld: bool) -> Event:
    if upheld:
        return KnockUpheld(
            case=case, seat=seat, accused=1, offence="revoke", rule="B40", payer=1, penalty=5, rests_on=()
        )
    return KnockDismissed(case=case, seat=seat, accused=1, reason="nothing", rule="B40")


def with_official(match: UUID, token: str) -> MatchOpened:
    """Return how a match is opened whose official's token has this SHA-256."""
    return replace(
        opening(players=3), official=hash_in_match(match, token), dockets=encrypt_or_decrypt(SECRET, match, (token,))
    )


def test_an_officiating_member_sees_the_cases_of_the_club_except_in_matches_they_play(log: Log):
    mine = log.add(uuid4(), of_club(members=(5, 1, 12)), knocked(0, 1, True))
    others = log.add(uuid4(), of_club(members=(2, 15, 3)), knocked(0, 1, False))
    log.add(uuid4(), of_club(club=OTHER), knocked(0, 1, True))

    def found(sight: Sight) -> list[UUID]:
        return [one.match for one in log.cases.page(log.connection, sight, log.at)[0]]

    assert found(Sight(club=ONE, officiates=True)) == [mine, others]
    assert found(Sight(club=ONE, officiates=True, sits=5)) == [others]
    assert found(Sight(club=ONE, officiates=True, sits=2)) == [mine]
    assert found(Sight(club=ONE, whole_club=True)) == found(UNAUTHENTICATED) == []
    named = log.add(match := uuid4(), with_official(match, "c" * 64), knocked(0, 1, True))
    assert found(Sight(credential_sha256="c" * 64)) == [named]


OFFICIALS = ("c" * 64, "d" * 64)
RULESETS = ("rodskagg-alga", "rodskagg-kortoxen")
JUDGES = (
    *(Sight(credential_sha256=token) for token in OFFICIALS),
    Sight(club=ONE, officiates=True),
    Sight(club=ONE, officiates=True, sits=5),
    Sight(club=OTHER, officiates=True, sits=12),
    Sight(club=ONE, whole_club=True),
    UNAUTHENTICATED,
)


def officiates(sight: Sight, match: UUID, opened: MatchOpened) -> bool:
    """Return whether the caller officiates a match, by the rule for one match."""
    if sight.club is None:
        token = sight.credential_sha256
        return token is not None and opened.official == hash_in_match(match, token)
    return sight.officiates and opened.club == sight.club and sight.sits not in opened.members


def stands(last: Event, at: datetime) -> str:
    """Return the status of a case after its last event."""
    match last:
        case CaseOpened():
            return "pending"
        case CaseWithdrawn():
            return "withdrawn"
        case CaseAppealed():
            return "appealed"
        case CaseRuled(appeal_until=datetime() as until) if at < until:
            return "ruled"
    return "final"


@pytest.mark.rule("J1", "J7")
@pytest.mark.parametrize("seed", range(3))
def test_an_official_sees_the_cases_of_their_matches_and_no_others(log: Log, seed: int):
    """Compare each list with a check of every case, for all filters and times."""
    chance = random.Random(seed)
    opened: dict[UUID, MatchOpened] = {}
    cases: dict[tuple[UUID, int], Event] = {}
    said: dict[str, Any] = {
        "by": "seat:0",
        "kind": "offence",
        "deal": 1,
        "offence": "revoke",
        "accused": 1,
        "payer": 1,
    }
    for _ in range(30):
        match = uuid4()
        official, ruleset = chance.choice(OFFICIALS), chance.choice(RULESETS)
        first = with_official(match, official)
        if chance.random() < 0.6:
            first = of_club(club=chance.choice((ONE, OTHER)), members=tuple(chance.sample(range(1, 13), 3)))
        opened[match] = replace(first, ruleset=ruleset)
        log.add(match, opened[match])
    for _ in range(90):
        match = chance.choice(list(opened))
        number = sum(one == match for one, _ in cases) + 1
        cases[match, number] = CaseOpened(case=number, **said)
        log.add(match, cases[match, number])
    for match, number in cases:
        until = NOON + timedelta(minutes=chance.randint(3, 9))
        rule = chance.choice(("B11", "B42"))
        ruling = CaseRuled(
            case=number, verdict="upheld", standard="agreed_facts", rule=rule, instance=1, appeal_until=until
        )
        ends = (), (CaseWithdrawn(case=number),), (ruling,), (ruling, CaseAppealed(case=number, seat=1))
        for event in chance.choice(ends):
            log.add(match, event)
            cases[match, number] = event
    rules = {place: event.rule for place, event in cases.items() if isinstance(event, CaseRuled)}
    every: tuple[dict[str, Any], ...] = (
        {},
        *({"status": status} for status in ("pending", "ruled", "appealed", "withdrawn", "final")),
        *({"ruleset": ruleset} for ruleset in RULESETS),
        *({"rule": "B11", "status": status} for status in ("ruled", "final")),
        {"ruleset": RULESETS[0], "status": "final"},
    )
    met: set[str | None] = set()
    for sight, filters in itertools.product(JUDGES, every):
        for at in (NOON + timedelta(minutes=minutes) for minutes in (4, 7)):
            wanted = [
                place
                for place, last in cases.items()
                if officiates(sight, place[0], opened[place[0]])
                and filters.get("status") in (None, stands(last, at))
                and filters.get("ruleset") in (None, opened[place[0]].ruleset)
                and filters.get("rule") in (None, rules.get(place))
            ]
            found: list[tuple[UUID, int]] = []
            cursor, limit = None, chance.randint(2, 9)
            while True:
                page, cursor = log.cases.page(log.connection, sight, at, limit=limit, after=cursor, **filters)
                assert len(page) <= limit
                found += [(one.match, one.case) for one in page]
                if cursor is None or len(found) > len(wanted):
                    break
            assert found == wanted, (sight, filters, at)
            met |= {filters.get("status")} if wanted else set()
    assert met == {None, "pending", "ruled", "appealed", "withdrawn", "final"}


OFFICE = Sight(club=ONE, whole_club=True)


class TestStandings:
    """Members' results in the matches of some evenings."""

    def results(self, log: Log, evenings: tuple[int, ...], sight: Sight = OFFICE) -> dict[StandingsRow, Standing]:
        return log.matches.standings(log.connection, ONE, evenings, log.matches.with_currency(ONE, sight, IN_MONEY))

    def knocks(
        self, log: Log, evenings: tuple[int, ...], sight: Sight = OFFICE
    ) -> dict[StandingsRow, tuple[int, int]]:
        return log.cases.knocks(log.connection, ONE, evenings, log.matches.with_currency(ONE, sight, IN_MONEY))

    def won(self, seat: int | None, *points: int, **fields: Any) -> MatchWon:
        return MatchWon(seat=seat, by="zero", rule="B58", points=points, **fields)

    def test_only_matches_that_are_over_count(self, log: Log):
        log.add(uuid4(), of_club(), self.won(1, 4, 0, 7))
        log.add(uuid4(), of_club(evening=2), self.won(0, 0, 3, 9))
        log.add(uuid4(), of_club(evening=3), self.won(0, 0, 100, 100))
        log.add(uuid4(), of_club())
        log.add(uuid4(), of_club(), MatchAbandoned(deal=1, reason=""))
        log.add(uuid4(), of_club(club=OTHER), self.won(0, 0, 50, 50))
        assert self.results(log, (1, 2)) == {
            (GAME, None, 5): Standing(2, 1, 2 * 4),
            (GAME, None, 1): Standing(2, 1, 2 * 3),
            (GAME, None, 12): Standing(2, 0, 2 * 16),
        }
        assert self.results(log, ()) == {}

    def test_each_ruleset_has_its_own(self, log: Log):
        log.add(uuid4(), of_club(), self.won(1, 4, 0, 7))
        log.add(uuid4(), of_club(ruleset="rams-english", members=(5, 1)), self.won(0, 250, -250))
        assert self.results(log, (1,)) == {
            (GAME, None, 5): Standing(1, 0, 2 * 4),
            (GAME, None, 1): Standing(1, 1, 0),
            (GAME, None, 12): Standing(1, 0, 2 * 7),
            ("rams-english", None, 5): Standing(1, 1, 2 * 250),
            ("rams-english", None, 1): Standing(1, 0, 2 * -250),
        }

    def test_points_in_money_are_not_added_to_other_points(self, log: Log):
        """The points of Rams are minor units of money in a match with stakes; those of other games never are."""
        rams: dict[str, Any] = {"ruleset": "rams-english", "members": (5, 1)}
        crowns, euros = (Stakes(currency=currency, unit=10) for currency in ("SEK", "EUR"))
        log.add(uuid4(), of_club(**rams), self.won(0, 3, -3))
        for stakes, points in ((crowns, 250), (euros, 100), (crowns, 50)):
            log.add(uuid4(), of_club(**rams, stakes=stakes), self.won(0, points, -points))
        log.add(uuid4(), of_club(**rams, stakes=euros), knocked(1, 0, True))
        log.add(uuid4(), of_club(members=(5, 1), stakes=crowns), self.won(1, 4, 0))
        log.add(uuid4(), of_club(members=(5, 1)), self.won(1, 5, 0))
        assert self.results(log, (1,)) == {
            ("rams-english", None, 5): Standing(1, 1, 2 * 3),
            ("rams-english", None, 1): Standing(1, 0, 2 * -3),
            ("rams-english", "SEK", 5): Standing(2, 2, 2 * 300),
            ("rams-english", "SEK", 1): Standing(2, 0, 2 * -300),
            ("rams-english", "EUR", 5): Standing(1, 1, 2 * 100),
            ("rams-english", "EUR", 1): Standing(1, 0, 2 * -100),
            (GAME, None, 5): Standing(2, 0, 2 * 9),
            (GAME, None, 1): Standing(2, 2, 0),
        }
        assert self.knocks(log, (1,)) == {("rams-english", "EUR", 1): (1, 0)}

    def test_halves_are_halves_and_partners_win_together(self, log: Log):
        log.add(uuid4(), of_club(), self.won(0, 5, 3, 0, halves=True, seats=(0, 2)))
        standings = self.results(log, (1,))
        assert standings == {
            (GAME, None, 5): Standing(1, 1, 5),
            (GAME, None, 1): Standing(1, 0, 3),
            (GAME, None, 12): Standing(1, 1, 0),
        }

    def test_a_correction_counts_in_place_of_what_was(self, log: Log):
        match = log.add(uuid4(), of_club(), self.won(1, 4, 0, 7))
        usual: dict[str, Any] = {"case": None, "deal": 1, "why": "entry", "lines": (), "struck": (), "eliminated": ()}
        usual |= {"dealer": 0, "next_deal": 2}
        log.add(match, ProtocolCorrected(**usual, points=(4, 5, 7)))
        assert self.results(log, (1,)) == {}
        ended = Ended(by="zero", rule="B58", event=3, seat=0)
        log.add(match, ProtocolCorrected(**usual, points=(0, 5, 7), won=ended))
        standings = self.results(log, (1,))
        assert standings == {
            (GAME, None, 5): Standing(1, 1, 0),
            (GAME, None, 1): Standing(1, 0, 10),
            (GAME, None, 12): Standing(1, 0, 14),
        }

    def test_a_private_match_counts_for_its_players_and_the_office(self, log: Log):
        """A knock in an open match counts too, and so would show who is playing now."""
        private = of_club(visibility="private", members=(5, 1, 12))
        log.add(uuid4(), private, self.won(1, 4, 0, 7))
        log.add(uuid4(), private, knocked(0, 1, True))
        for sight in (OFFICE, Sight(club=ONE, member=5)):
            assert self.results(log, (1,), sight).keys() == {
                (GAME, None, 5),
                (GAME, None, 1),
                (GAME, None, 12),
            }
            assert self.knocks(log, (1,), sight) == {(GAME, None, 5): (1, 0)}
        for sight in (Sight(club=ONE), Sight(club=ONE, member=7), Sight(club=OTHER, whole_club=True)):
            assert self.results(log, (1,), sight) == {}
            assert self.knocks(log, (1,), sight) == {}

    def test_knocks_count_for_the_knocker_by_their_last_ruling(self, log: Log):
        match = log.add(uuid4(), of_club(), knocked(0, 1, True), knocked(0, 2, False), knocked(2, 3, False))
        usual: dict[str, Any] = {
            "by": "seat:2",
            "kind": "offence",
            "deal": 1,
            "offence": "revoke",
            "accused": 0,
            "payer": 0,
        }
        log.add(match, *(CaseOpened(case=case, **usual) for case in (4, 5, 6)))
        log.add(match, CaseOpened(case=7, **usual | {"kind": "entry"}))
        log.add(match, CaseOpened(case=8, **usual | {"by": "official"}))
        rules: dict[str, Any] = {"standard": "agreed_facts", "rule": "J2", "instance": 1}
        for case, verdict in ((4, "dismissed"), (4, "upheld"), (7, "upheld"), (8, "upheld")):
            log.add(match, CaseRuled(case=case, verdict=verdict, official="official", **rules))
        log.add(match, CaseWithdrawn(case=5))
        assert self.knocks(log, (1,)) == {
            (GAME, None, 5): (1, 1),
            (GAME, None, 12): (1, 1),
        }
        assert self.knocks(log, (2,)) == {}
