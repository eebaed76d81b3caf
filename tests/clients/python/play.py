"""Play a match of each ruleset through the client that openapi-python-client generates: ``play.py <address>``.

Imports only the generated package, as any client's program could. mypy --strict checks it against the generated
types. An unused ``type: ignore`` would show that the types accept a wrong call.
"""

import json
import random
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, assert_type
from uuid import UUID, uuid4

from knacka_client import AuthenticatedClient, Client
from knacka_client.api.books import get_deal, get_pot, get_protocol
from knacka_client.api.events import list_events, replay_match, stream_events
from knacka_client.api.knocks import get_knock, list_knocks, send_knock
from knacka_client.api.matches import get_match, list_legal_acts, open_match, send_act
from knacka_client.models import (
    ActDone,
    CardPlayed,
    Close,
    Enforcement,
    EventPage,
    KalabriasOpenMatch,
    KalabriasOptions,
    Knock,
    Knocked,
    MatchSeen,
    Opening,
    Player,
    Problem,
    RamsEnglishOpenMatch,
    RamsEnglishOptions,
    RodskaggAlgaOpenMatch,
    RodskaggAlgaOptions,
    RodskaggCatsatcardsOpenMatch,
    RodskaggCatsatcardsOptions,
    RodskaggKortoxenOpenMatch,
    RodskaggKortoxenOptions,
)

ACTS_MAX = 2000
"""Upper limit of acts in a match. A match of random acts takes about fifty from these openings."""
DEALS = 3
"""Deals after which the official closes a session of Rams, which has no end otherwise."""

OpenMatch = (
    KalabriasOpenMatch
    | RamsEnglishOpenMatch
    | RodskaggAlgaOpenMatch
    | RodskaggCatsatcardsOpenMatch
    | RodskaggKortoxenOpenMatch
)
PLAYERS = [Player(name="Anna"), Player(name="Bo"), Player(name="Cecilia")]
NEAR_ZERO = Opening(points=[3, 3, 3])
OPENINGS: list[OpenMatch] = [
    RodskaggAlgaOpenMatch(
        ruleset="rodskagg-alga",
        players=PLAYERS,
        opening=NEAR_ZERO,
        options=RodskaggAlgaOptions(honour_redeal=False),
    ),
    RodskaggKortoxenOpenMatch(
        ruleset="rodskagg-kortoxen",
        players=PLAYERS,
        enforcement=Enforcement.PENALISE,
        opening=NEAR_ZERO,
        options=RodskaggKortoxenOptions(deal_ritual=False, exact_zero=False),
    ),
    RodskaggCatsatcardsOpenMatch(
        ruleset="rodskagg-catsatcards",
        players=PLAYERS,
        opening=NEAR_ZERO,
        options=RodskaggCatsatcardsOptions(fem_opp=False),
    ),
    RamsEnglishOpenMatch(ruleset="rams-english", players=PLAYERS, options=RamsEnglishOptions(late_generalrams=True)),
    KalabriasOpenMatch(ruleset="kalabrias", players=PLAYERS[:2], options=KalabriasOptions(target_score=100)),
]

if TYPE_CHECKING:  # an option of another ruleset
    KalabriasOptions(deal_ritual=False)  # type: ignore[call-arg]


class Table:
    """A match, with a client for each seat, one for the official, and one without a token for a spectator."""

    def __init__(self, address: str, opening: OpenMatch) -> None:
        self.opening = opening
        self.spectator = Client(address)
        made = open_match.sync(client=self.spectator, body=opening)
        assert not isinstance(made, Problem | None), made
        assert made.official_token is not None, "the opening names no token of the official"
        self.match: UUID = made.id
        tokens = [seat.token for seat in made.seats if seat.token is not None]
        assert len(tokens) == len(made.seats), "only a club's match for money gives its seats no tokens"
        self.seats = [AuthenticatedClient(address, token=token) for token in tokens]
        self.official = AuthenticatedClient(address, token=made.official_token)
        self.random = random.Random(opening.ruleset)
        self.acts = 0
        self.knocked = False

    def seen(self) -> MatchSeen:
        seen = get_match.sync(self.match, client=self.official)
        assert isinstance(seen, MatchSeen), seen
        return seen

    def play(self) -> None:
        """Make random legal acts until the match is over."""
        while (seen := self.seen()).phase != "over":
            assert self.acts < ACTS_MAX, f"{self.opening.ruleset} does not end"
            if not (self.opening.ruleset == "rams-english" and seen.deal >= DEALS and self.close()):
                self.act(seen.to_act[0], seen.version)

    def act(self, seat: int, version: int) -> None:
        """Make one of the legal acts of the seat."""
        client = self.seats[seat]
        listed = list_legal_acts.sync(self.match, client=client, seat=seat)
        assert not isinstance(listed, Problem | None), listed
        if not self.acts:
            other = self.seats[seat - 1]
            problem = send_act.sync(self.match, client=other, body=listed[0])
            assert isinstance(problem, Problem), problem
            assert problem.status == 403
        act, key, as_read = self.random.choice(listed), uuid4().hex, f'"{version}"'
        done = send_act.sync(self.match, client=client, body=act, idempotency_key=key, if_match=as_read)
        assert not isinstance(done, Problem | None), done
        assert done.version > version
        self.acts += 1
        if any(event.event.topic == "card/played" for event in done.events) and not self.knocked:
            self.knocked = True
            self.knock()

    def close(self) -> bool:
        """End the session as the official, which is legal between deals. Return whether it was legal."""
        listed = list_legal_acts.sync(self.match, client=self.official)
        assert not isinstance(listed, Problem | None), listed
        closing = [act for act in listed if isinstance(act, Close)]
        for act in closing:
            assert isinstance(send_act.sync(self.match, client=self.official, body=act), ActDone)
        return bool(closing)

    def knock(self) -> None:
        """Knock without a reason, if errors are punished only after a knock."""
        if isinstance(self.opening, RodskaggKortoxenOpenMatch):
            knock = Knock(seat=0, accused=1, offence=Knocked.KNOCKED_REVOKE)
            case = send_knock.sync(self.match, client=self.seats[0], body=knock)
            assert not isinstance(case, Problem | None), case
            assert case.verdict == "dismissed"

    def events(self) -> Iterator[EventPage]:
        """Yield the audit trail, page by page."""
        after: int | None = 0
        while after is not None:
            page = list_events.sync(self.match, client=self.official, after=after, limit=20)
            assert not isinstance(page, Problem | None), page
            yield page
            after = page.next_

    def streamed(self) -> Iterator[EventPage]:
        """Yield the audit trail from the stream, each event as a page of its own."""
        call = stream_events._get_kwargs(self.match)
        with self.official.get_httpx_client().stream(**call) as answer:
            assert answer.status_code == 200
            for line in answer.iter_lines():
                field, _, value = line.partition(": ")
                data = json.loads(value) if field == "data" else {}
                if "number" in data:  # the messages ``state`` and ``end`` are not events
                    del data["topic"]  # which a message adds to the event
                    yield EventPage.from_dict({"acts": [], "events": [data], "next": None, "version": data["number"]})


def cards_of(page: EventPage) -> list[str]:
    """Return the cards played. The topic determines the type of an event."""
    cards = []
    for event in page.events:
        if event.event.topic == "card/played":
            assert_type(event.event, CardPlayed)
            assert_type(event.event.card, str)
            cards.append(event.event.card)
        elif TYPE_CHECKING:  # not all other events have a card
            print(event.event.card)  # type: ignore[union-attr]
    return cards


def read(table: Table) -> str:
    """Check that all answers about a finished match agree; return a line about the match."""
    seen = table.seen()
    pages = list(table.events())
    numbers = [event.number for page in pages for event in page.events]
    cards = [card for page in pages for card in cards_of(page)]
    assert numbers == list(range(1, seen.version + 1))
    streamed = list(table.streamed())
    assert [event.number for page in streamed for event in page.events] == numbers
    assert [card for page in streamed for card in cards_of(page)] == cards
    protocol = get_protocol.sync(table.match, client=table.spectator, min_version=seen.version)
    assert not isinstance(protocol, Problem | None), protocol
    assert protocol.points == seen.points
    assert protocol.lines
    page = list_knocks.sync(table.match, client=table.spectator)
    assert not isinstance(page, Problem | None), page
    cases = page.items
    for case in cases:
        assert get_knock.sync(table.match, case.case, client=table.spectator) == case
    replayed = replay_match.sync(table.match, client=table.official, at=seen.version // 2)
    assert not isinstance(replayed, Problem | None), replayed
    assert replayed.version == seen.version // 2
    record = get_deal.sync(table.match, 1, client=table.spectator)
    assert not isinstance(record, Problem | None), record
    played = [card.card for trick in record.tricks for card in trick.cards]
    assert played == cards[: len(played)]
    if isinstance(table.opening, RamsEnglishOpenMatch):
        pot = get_pot.sync(table.match, client=table.spectator, min_version=seen.version)
        assert not isinstance(pot, Problem | None), pot
        assert pot.version == seen.version
    return f"{table.opening.ruleset}: {table.acts} acts, {len(numbers)} events, {len(cases)} knocks"


def main(address: str) -> None:
    """Play a match of each ruleset."""
    for opening in OPENINGS:
        table = Table(address, opening)
        table.play()
        print(f"  {read(table)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
