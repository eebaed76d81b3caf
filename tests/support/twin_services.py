"""Two services whose stores differ only in what a caller may not see, and the answers of both to the same calls.

Both stores begin as copies of one store: a club with its keys, an evening and a fee, and a signed checkpoint. Then
each gets matches of its own. Ids, keys and times are the same in both, so the answers have to be the same byte for
byte, with all their headers. :data:`VARYING` and :data:`BLINDED` list the exceptions.

There are three kinds of pairs of stores:

- ``hidden``: the same matches, in which cards and texts differ that the caller may not see
  (:mod:`tests.support.world_pairs`).
- ``private``: different private matches of the club, or none. The caller has no key that shows them.
- ``settled``: the same, and the club's books count the private matches. The caller has no share in them.
"""

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import date
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from threading import Thread
from time import monotonic, sleep
from typing import Literal, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from api.access.limits import SECOND
from api.app import create_app
from api.personal_data.names import Names
from api.runtime.service import Service
from api.server import Server, config_of
from api.settings import Settings
from referee.clubs.commands import Fee, Join, OpenEvening
from referee.events import MatchOpened, Stakes
from referee.games import RULESETS
from referee.officials.events.seating import StakesAgreed
from referee.officials.events.shuffle import ShuffleCommitted
from referee.store.desk import Desk
from referee.store.store import construct
from referee.visibility import Recorded
from tests.log.bundle_checks import KEY
from tests.support.projection_progress import caught_up
from tests.support.random_deals import Playout, play_deal
from tests.support.random_openings import some_match
from tests.support.running_service import START_SECONDS_MAX
from tests.support.stored_world_pairs import HIDING, NOT_PLAYING, VISIBILITIES, Held, Kept, token
from tests.support.world_pairs import TALLIES, Pair
from tests.support.world_pairs_with_officials import AttendedPair

Kind = Literal["hidden", "private", "settled"]
KINDS: tuple[Kind, ...] = ("hidden", "private", "settled")
CLIENT = {"X-Forwarded-For": "192.0.2.7", "X-Request-Id": "the-same-id"}
"""An address to which the limits apply, which they do not to this machine, and an id that both answers repeat."""
STEPS_MAX = 30
"""The most acts that a pair goes on after the deal in which the two worlds part."""
CALLERS = 3
"""Number of randomly drawn callers that read all pages of the club."""
CALLS = 4
"""Number of randomly drawn calls about each match that are compared."""
SEASON = "2026/27"

VARYING: dict[str, str] = {
    "date": "The server writes the time of the answer.",
}
"""Headers that are not compared, each with the reason."""
BLINDED: dict[str, tuple[re.Pattern[bytes], str]] = {
    "text": (re.compile(rb"hmac:[0-9a-f]{64}"), "A text is stored under a random name each time it is stored."),
    "made": (re.compile(rb'"made_at":"[^"]*"'), "The file of a case says when it was made."),
    "row": (re.compile(rb'"(?:prev|hash)":"[0-9a-f]{64}"'), "An auditor gets the hashes of rows whose deal is over."),
}
"""Parts of answers about a match that are not compared, each with the reason; a placeholder is. A tag that is made
from the whole content is not compared then either."""
ROOTS = re.compile(rb"[A-Za-z0-9+/]{43}=|\xe2\x80\x94 \S+ \S+")
"""Hashes of the tree and signatures over them: the rows differ, and so these do."""
ENTRY = re.compile(rb'"entry":\d+')
"""Number of the last entry of the books. It counts all entries of the club, also those of matches that the caller may
not see."""


class Answer(NamedTuple):
    """An answer without the headers of :data:`VARYING`."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return the value of a header by its lower-case name."""
        return next((value for one, value in self.headers if one == name), None)

    def without(self, *names: str) -> "Answer":
        """Return the answer without these headers."""
        return self._replace(headers=tuple(one for one in self.headers if one[0] not in names))

    def blinded(self, pattern: re.Pattern[bytes]) -> "Answer":
        """Return the answer with a placeholder for each match of the pattern."""
        return self._replace(body=pattern.sub(b"...", self.body))


def first_difference(left: Answer, right: Answer) -> str:
    """Return where two answers differ first."""
    if left[:2] != right[:2]:
        return f"\n{left[:2]}\n{right[:2]}"
    both = zip(left.body, right.body, strict=False)
    place = next((at for at, (one, other) in enumerate(both) if one != other), min(len(left.body), len(right.body)))
    return f"\n{left.body[place - 80 : place + 80]!r}\n{right.body[place - 80 : place + 80]!r}"


class Running:
    """A service on a loopback port, whose limits never gain anything back: their clock does not move."""

    def __init__(self, place: Path) -> None:
        settings = Settings(
            database_url=f"sqlite:///{place}/knacka.db",
            log_key=KEY.private_text,
            log_seconds=86_400,
            reads_per_minute=1_000_000,
            acts_per_minute=1_000_000,
        )
        app = create_app(settings)
        self.server = Server(config_of(app, "127.0.0.1", 0))
        self.thread = Thread(target=self.server.run, daemon=True)
        self.thread.start()
        until = monotonic() + START_SECONDS_MAX
        while not self.server.started:
            assert self.thread.is_alive(), "the service did not start"
            assert monotonic() < until, "the service did not start in time"
            sleep(0.005)
        self.service: Service = app.state.service
        for policy in (self.service.limits._acts, self.service.limits._reads):
            assert policy is not None
            policy.pace._clock = policy.of_address._clock = lambda: 1000 * SECOND
        host, port = self.server.servers[0].sockets[0].getsockname()[:2]
        self.connection = HTTPConnection(host, port, timeout=START_SECONDS_MAX)
        caught_up(self.service.projections)

    def close(self) -> None:
        """Stop the service."""
        self.connection.close()
        self.server.should_exit = True
        self.thread.join(START_SECONDS_MAX)
        assert not self.thread.is_alive(), "the service did not stop"

    def ask(self, method: str, path: str, held: Held, body: bytes = b"", **more: str) -> Answer:
        """Return the answer to a request with a token or key, or without one."""
        headers = {**CLIENT, **more, **({} if held is None else {"Authorization": f"Bearer {held}"})}
        if body:
            headers["Content-Type"] = "application/json"
        self.connection.request(method, path, body or None, headers)
        answer = self.connection.getresponse()
        told = tuple((name.lower(), value) for name, value in answer.getheaders() if name.lower() not in VARYING)
        return Answer(answer.status, told, answer.read())

    def sign(self) -> None:
        """Sign the log as it is now."""
        assert self.service.signer is not None
        caught_up(self.service.projections)
        assert self.service.signer.sign(at_once=True), "there was something to sign"


class Base(NamedTuple):
    """The store that both begin as."""

    place: Path
    kept: Kept
    blind: tuple[Held, ...]
    """Callers who see no private match of the club."""
    even: tuple[Held, ...]
    """Callers who owe nothing and do not see the whole plan. The payments of all others depend on every balance
    of the club."""


def base(place: Path) -> Base:
    """Fill the store that both begin as, and sign its log."""
    place.mkdir()
    url = f"sqlite:///{place}/knacka.db"
    referee, names = construct(url), Names(url)
    try:
        names.prepare()
        kept = Kept(referee, names)
        club = kept.home.club
        club.desk = Desk(referee)
        club.do(OpenEvening(on=date(2026, 11, 22), season=SEASON))
        club.do(Fee(member=NOT_PLAYING, amount=500, currency="SEK"))
        debtor = [club.key(scope, member=NOT_PLAYING) for scope in ("play", "self", "read", "keys")]
        treasurers = [club.key("treasury", member=NOT_PLAYING), club.key("treasury")]
        programs = [club.key(scope) for scope in ("read", "keys", "self")]
        (name,) = names.put(club.id, NOT_PLAYING + 1, ["Ada without a debt"], kind="name")
        club.do(Join(name=name))
        even = [club.key(scope, member=NOT_PLAYING + 1) for scope in ("play", "self", "read")]
        club.desk.close()
    finally:
        names.close()
        referee.close()
    with closing(Running(place)) as running:
        running.sign()
    nobody = (None, kept.stranger)
    return Base(place, kept, (*nobody, *debtor, *treasurers, *programs, *even), (*nobody, *programs, *even))


class Difference(NamedTuple):
    """A match in which the two stores differ."""

    id: UUID
    pair: Pair | None
    """``None``: private matches."""


class Twins:
    """Both services while they run."""

    def __init__(self, kind: Kind, base: Base, running: Sequence[Running], differences: list[Difference]) -> None:
        self.kind, self.base, self.running, self.differences = kind, base, running, differences
        self.club = base.kept.home.club.id
        self.asked = 0

    def same(
        self,
        held: Held,
        path: str,
        *,
        method: str = "GET",
        body: bytes = b"",
        blind: Callable[[Answer], Answer] = lambda answer: answer,
        headers: Mapping[str, str] | None = None,
        own: Sequence[Mapping[str, str]] = (),
    ) -> Answer:
        """Ask both services the same, with the headers in ``own`` for each if they differ.

        Return the answer of the first. Raises AssertionError if the two differ.
        """
        left, right = [
            one.ask(method, path, held, body, **more)
            for one, more in zip(self.running, own or [headers or {}] * len(self.running), strict=True)
        ]
        self.asked += 1
        assert left.status < 500, f"{held} {method} {path}: {left}"
        if (one := blind(left)) != (other := blind(right)):
            raise AssertionError(f"{held} {method} {path} {body!r}: {first_difference(one, other)}")
        return left

    def same_page(self, held: Held, path: str, blind: Callable[[Answer], Answer] = lambda answer: answer) -> None:
        """Ask for a page as a reader does: once, then whether it has changed, and packed."""
        first = self.same(held, path, blind=blind)
        if first.status == 200 and (tag := first.header("etag")) is not None:
            # each with its own tag: those of pages with the number of the last entry differ
            tags = [one.ask("GET", path, held).header("etag") or tag for one in self.running]
            changed = self.same(held, path, blind=blind, own=[{"If-None-Match": one} for one in tags])
            assert changed.status == 304 or blind(first) != first, path
            self.same(held, path, blind=blind, headers={"Accept-Encoding": "gzip"})

    def compare(self, chance: Random) -> int:
        """Compare all that the callers get. Return how many calls were compared."""
        if self.kind == "hidden":
            self._pages_of_club(self._anybody(), chance)
            for one in self.differences:
                assert one.pair is not None
                self._match_with_hidden_cards(one.id, one.pair, chance)
        else:
            self._pages_of_club(self.base.even if self.kind == "settled" else self.base.blind, chance)
            for one in self.differences:
                self._private_match(one.id, chance)
        self._log()
        return self.asked

    def _anybody(self) -> list[Held]:
        """Callers who are shown no hidden card on a page of the club: all of them."""
        home = self.base.kept.home
        keys = [home.spectator, *home.spectators, *home.auditors, home.sees_seat[2][0], home.looks_on[3]]
        return [*self.base.blind, *keys]

    def _pages_of_club(self, callers: Sequence[Held], chance: Random) -> None:
        for held in chance.sample(callers, CALLERS):
            for path in pages(self.club):
                self.same_page(held, path, self._books_blind if self.kind == "settled" else lambda answer: answer)

    @staticmethod
    def _books_blind(answer: Answer) -> Answer:
        """Leave out the number of the last entry, and what depends on it: the tag and the length."""
        if ENTRY.search(answer.body) is None and answer.status != 304:
            return answer
        return answer.without("etag", "content-length").blinded(ENTRY)

    def _match_with_hidden_cards(self, match: UUID, pair: Pair, chance: Random) -> None:
        from tests.api.access.test_interference import calls  # which imports the worlds

        committed = [
            [one.event.commitment.encode() for one in history if isinstance(one.event, ShuffleCommitted)]
            for history in pair.histories
        ]

        def blind(answer: Answer) -> Answer:
            whole = answer
            for pattern, _ in BLINDED.values():
                answer = answer.blinded(pattern)
            for one in committed:  # the house commits to a different seed in each world
                for number, commitment in enumerate(one):
                    answer = answer._replace(body=answer.body.replace(commitment, b"COMMITMENT %d" % number))
            return answer if answer == whole else answer.without("etag")

        home = self.base.kept.home
        looking: list[Held] = [None, self.base.kept.stranger, token("watcher"), *home.spectators]
        paths = [one for one in calls(pair) if "stream" not in one[1] and one[2] == "*/*"]
        for who, path, _ in chance.sample(paths, min(CALLS, len(paths))):
            held = chance.choice(looking) if who is None else token(pair.watcher)
            self.same(held, f"/v1/matches/{match}{path}", blind=blind)

    def _private_match(self, match: UUID, chance: Random) -> None:
        held = chance.choice(self.base.blind)
        for path in chance.sample(PATHS, CALLS):
            answer = self.same(held, f"/v1/matches/{match}{path}")
            assert answer.status in (401, 403, 404), answer
        act = b'{"act": "bid", "seat": 0, "bid": "pass"}'
        self.same(held, f"/v1/matches/{match}/acts", method="POST", body=act)
        self.same(held, f"/v1/matches/{match}/knocks", method="POST", body=b'{"seat": 0, "accused": 1}')

    def _log(self) -> None:
        """Compare the log. Rows have come since the checkpoint, and nothing shows how many until the next one."""
        for held in (None, self.base.kept.stranger):
            for path in ("", "/checkpoint", "/consistency?from=1", "/consistency?from=9999"):
                self.same_page(held, f"/v1/log{path}")
        if self.kind != "hidden":
            return
        for running in self.running:
            running.sign()

        def blind(answer: Answer) -> Answer:
            return answer.without("etag").blinded(ROOTS)

        self.same_page(None, "/v1/log")
        for path in ("/v1/log/checkpoint", "/v1/log/consistency?from=1"):
            self.same(None, path, blind=blind)
        for difference in self.differences:
            self.same(None, f"/v1/matches/{difference.id}/events/2/proof", blind=blind)


PATHS = (
    "",
    "/events",
    "/events?limit=3",
    "/events/1/proof",
    "/protocol",
    "/replay?at=1",
    "/knocks",
    "/knocks/1",
    "/pot",
    "/settlement",
    "/deals/1",
    "/legal-acts?seat=0",
    "/attempts",
    "/bundle",
)
"""The paths below a match that are read."""


def pages(club: UUID) -> Iterator[str]:
    """Give the paths of what shows a club, its matches and its money."""
    of_club = f"/v1/clubs/{club}"
    yield from ("/v1/matches", f"/v1/matches?club={club}", f"/v1/matches?club={club}&evening=1&limit=5")
    yield from (f"/v1/matches?club={club}&member=3", "/v1/cases", "/v1/key", "/health/live")
    yield from (of_club, f"{of_club}/members", f"{of_club}/evenings", f"{of_club}/keys")
    yield from (f"{of_club}/standings", f"{of_club}/standings?season={SEASON}&fresh=true")
    yield from (f"{of_club}/standings?ruleset={key}" for key in sorted(RULESETS))
    yield from (f"{of_club}/plan", f"{of_club}/plan?evening=1", f"{of_club}/plan?currency=SEK&fresh=true")
    yield from (f"{of_club}/proposals", f"{of_club}/closings")


@contextmanager
def twins(base: Base, place: Path, kind: Kind, numbers: Iterable[int]) -> Iterator[Twins]:
    """Serve two stores that differ in the matches of these numbers."""
    differences: list[Difference] = []
    with ExitStack() as stack:
        stores = [place / name for name in ("left", "right")]
        writers = []
        for store in stores:
            shutil.copytree(base.place, store)
            writers.append(stack.enter_context(_writing(base, store)))
        for number in numbers:
            match, make = UUID(int=number + 10), _hidden if kind == "hidden" else _private
            differences.append(Difference(match, make(base, writers, match, kind, number)))
        stack.close()
        running = [stack.enter_context(closing(Running(store))) for store in stores]
        yield Twins(kind, base, running, differences)


@contextmanager
def _writing(base: Base, place: Path) -> Iterator[Kept]:
    """Give what writes matches into a store."""
    url = f"sqlite:///{place}/knacka.db"
    writer = object.__new__(Kept)
    writer.__dict__ |= vars(base.kept)
    writer.referee, writer.names = construct(url), Names(url)
    try:
        writer.names.prepare()
        yield writer
    finally:
        writer.names.close()
        writer.referee.close()


def _hidden(base: Base, writers: Sequence[Kept], match: UUID, kind: Kind, number: int) -> Pair:
    """Store a match in both, with cards and texts that the watcher may not see."""
    kinds = [*((Pair, one) for one in HIDING), *((AttendedPair, one) for one in (*HIDING, *TALLIES))]
    made, combination = kinds[number % len(kinds)]
    pair = made(*combination, f"twins {number}")
    pair.play(pair.chance.randint(1, STEPS_MAX))
    home, visibility = pair.chance.choice((None, base.kept.home)), pair.chance.choice(VISIBILITIES)
    for writer, history in zip(writers, pair.histories, strict=True):
        writer.store(match, history, home, visibility)
    return pair


def _private(base: Base, writers: Sequence[Kept], match: UUID, kind: Kind, number: int) -> None:
    """Store a private match in the first store, and a different one or none in the second."""
    chance, key = Random(f"{kind} {number}"), sorted(RULESETS)[number % len(RULESETS)]
    left, right = (played(chance, key, settled=kind == "settled") for _ in range(2))
    writers[0].store(match, left, base.kept.home, "private")
    if chance.random() < 0.5:
        writers[1].store(match, right, base.kept.home, "private")


def played(chance: Random, key: str, *, settled: bool) -> list[Recorded]:
    """Return the history of a match of one deal; ``settled``: for money, with the stakes agreed."""
    rules = RULESETS[key]
    opened: MatchOpened = some_match(chance, rules)
    if settled:
        opened = replace(opened, stakes=Stakes(currency="SEK", unit=14), dealing="house")
        rules.opening(opened)
    match = Playout(rules, chance, Counter(), keep=True, opened=opened)
    if settled:
        agreed = StakesAgreed(seats=tuple(match.seats), how="seat")
    play_deal(match, thorough=False)
    if not match.over and (settled or chance.random() < 0.7):
        match.close()
    assert match.kept is not None
    history = list(match.kept)
    if settled:
        history.append(replace(history[-1], originator_version=len(history) + 1, event=agreed))
    return history
