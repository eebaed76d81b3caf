"""Pairs of matches in the store of a service, with their callers; see :mod:`tests.support.world_pairs`.

Two of three pairs belong to a club, with every visibility. In some pairs the two worlds are matches of two clubs,
whose members have different names and write different texts: their callers may read neither match.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import replace

from api.personal_data.names import Names
from api.personal_data.texts import free_texts_of, with_texts_changed
from referee.actors import officials
from referee.clubs.facts import SCOPES
from referee.events import MatchOpened, TokenMade, Visibility
from referee.games import request_of
from referee.store.desk import Desk
from referee.store.rows import HASH_BEFORE_FIRST, row_hash
from referee.store.store import Referee
from referee.tokens import hash_in_match
from referee.visibility import Event, Recorded
from tests.support.salted_rows import row_of
from tests.support.stored_clubs import Club, hashed
from tests.support.world_pairs import COMBINATIONS, NOTHING_HIDDEN, TALLIES, Pair
from tests.support.world_pairs_with_officials import AttendedPair

PAIRS, PARTS = int(os.environ.get("WORLDS", "200")), 4
"""Number of pairs, and of the stores that contain them. ``make soak`` has more pairs."""
HIDING = [combination for combination in COMBINATIONS if combination not in NOTHING_HIDDEN]
FIRST_MEMBER, SEATS_MAX = 2, 8
NOT_PLAYING = FIRST_MEMBER + SEATS_MAX
"""A member without a seat in any match."""
VISIBILITIES: tuple[Visibility, ...] = ("public", "club", "private")
Held = str | None
"""Credential of a caller, a token or a key; ``None`` for a caller without one."""


class Worlds(NamedTuple):
    """A pair in the store, with the credentials of callers who must not distinguish its worlds."""

    pair: Pair
    ids: tuple[UUID, UUID]
    seat: tuple[Held, ...]
    """Credentials that see and act as the watcher's seat; with ``hides_all``, credentials that may not."""
    spectators: tuple[Held, ...]
    scribe: Held
    """Token of a scribe, who writes for the watcher's seat and sees the view of a spectator."""
    hides_all: bool
    """True if the worlds belong to two clubs."""
    auditors: tuple[str, ...] = ()
    """Keys of spectators who see finished deals as the official does; the first belongs to a program."""
    spectator: Held = None
    """A key of the same club that sees the match with any visibility."""


def token(whose: int | str) -> str:
    """Return the token of a seat, an official, or a role. It is the same in every match here."""
    return f"token of seat {whose}"


class Home(NamedTuple):
    """A club with its keys. Members 2 to 9 play in its matches."""

    club: Club
    sees_seat: dict[int, tuple[str, ...]]
    """Keys that see and act for a member's seat, by member."""
    looks_on: dict[int, str]
    """A member's key with all scopes except ``play``, by member. In the member's own match it sees as a spectator."""
    spectators: tuple[str, ...]
    auditors: tuple[str, ...]
    spectator: str


def home(desk: Desk, names: Names, called: str) -> Home:
    """Found a club with keys of every kind."""
    club = Club(desk, members=NOT_PLAYING, named=lambda member, club: _named(names, club, member, called))
    playing = range(FIRST_MEMBER, NOT_PLAYING)
    programs = {scope: club.key(scope) for scope in SCOPES if scope not in ("play", "officiate")}
    beside = club.key("read", "audit", member=NOT_PLAYING)
    return Home(
        club,
        {member: (club.key("play", member=member), club.key(member=member)) for member in playing},
        {member: club.key(*(scope for scope in SCOPES if scope != "play"), member=member) for member in playing},
        (*programs.values(), club.key("play", member=NOT_PLAYING), beside),
        (programs["audit"], beside),
        programs["open"],
    )


def _named(names: Names, club: UUID, member: int, called: str) -> str:
    (ref,) = names.put(club, member, [f"{called} {member}"], kind="name")
    return ref


class Kept:
    """Writes pairs into a store."""

    def __init__(self, referee: Referee, names: Names) -> None:
        self.referee, self.names = referee, names
        desk = Desk(referee)
        self.home, self.other = home(desk, names, "Ada"), home(desk, names, "Beatrice the younger")
        self.stranger = Club(desk).founder
        desk.close()
        self.clubs = [str(one.club.id) for one in (self.home, self.other)]

    def some_worlds(self, part: int) -> Iterator[Worlds]:
        """Yield pairs of every kind, each at a different moment. Tallies have officials, because only texts can be
        hidden in them."""
        kinds = [*((Pair, one) for one in HIDING), *((AttendedPair, one) for one in (*HIDING, *TALLIES))]
        for number in range(part, PAIRS, PARTS):
            kind, combination = kinds[number % len(kinds)]
            pair = kind(*combination, f"over HTTP {number}")
            pair.play(pair.chance.randint(1, 30))
            yield self.worlds(pair, number)

    def worlds(self, pair: Pair, number: int) -> Worlds:
        """Write both worlds of a pair, with a random club, or without one, and a random visibility."""
        ids = UUID(int=2 * number + 10), UUID(int=2 * number + 11)
        how, visibility = (
            pair.chance.choice(("nobody's", "one club's", "two clubs'")),
            pair.chance.choice(VISIBILITIES),
        )
        homes = {"nobody's": (None, None), "one club's": (self.home,) * 2, "two clubs'": (self.home, self.other)}[how]
        for match_id, history, whose in zip(ids, pair.histories, homes, strict=True):
            self.store(match_id, history, whose, visibility)
        strangers: tuple[Held, ...] = (None, self.stranger)
        if how == "two clubs'":
            return Worlds(pair, ids, strangers, strangers, None, hides_all=True)
        roles = token("watcher"), token("scribe")
        seat, scribe = token(pair.watcher), token("scribe")
        if how == "nobody's":
            keys = (*self.home.spectators, *self.home.sees_seat[FIRST_MEMBER])
            return Worlds(pair, ids, (seat,), (*strangers, *roles, *keys), scribe, hides_all=False)
        here = self.home
        sitting = [here.looks_on[FIRST_MEMBER + other] for other in pair.left.seats]
        return Worlds(
            pair,
            ids,
            (seat, *here.sees_seat[FIRST_MEMBER + pair.watcher]),
            (*strangers, *roles, *here.spectators, *sitting),
            scribe,
            hides_all=False,
            auditors=here.auditors,
            spectator=here.spectator,
        )

    def store(self, match_id: UUID, history: list[Recorded], whose: Home | None, visibility: Visibility) -> None:
        """Write a history as a match of this id, and add tokens for a scribe and a watcher."""
        opened: Any = history[0].event
        begun = with_tokens(match_id, opened)
        if whose is not None:
            begun = self._in_club(begun, whose.club, visibility)
            history = self._with_refs(match_id, history, whose)
        made = [
            TokenMade(hash=hash_in_match(match_id, hashed(token(role))), role=role) for role in ("scribe", "watcher")
        ]
        last = history[-1]
        more = [
            replace(last, originator_version=len(history) + place, actor="official", event=event, request=None)
            for place, event in enumerate(made, 1)
        ]
        stored(self.referee, match_id, (replace(history[0], event=begun), *history[1:], *more))

    def _in_club(self, opened: MatchOpened, club: Club, visibility: Visibility) -> MatchOpened:
        members = tuple(range(FIRST_MEMBER, FIRST_MEMBER + len(opened.players)))
        players = tuple(f"M{member}" for member in members)
        return replace(
            opened, club=club.id, evening=1, table=1, members=members, players=players, visibility=visibility
        )

    def _with_refs(self, match_id: UUID, history: list[Recorded], whose: Home) -> list[Recorded]:
        """Return the history in its stored form: its texts are kept among the names, with different words in each
        club."""
        asked = [None if one.request is None else request_of(bytes(one.request)) for one in history]
        texts = {
            text for one in (*(one.event for one in history), *filter(None, asked)) for text in free_texts_of(one)
        }
        put = {text: text if whose is self.home else f"{text} They say so." for text in sorted(texts)}
        refs = dict(zip(put, self.names.put(whose.club.id, None, [*put.values()], match=match_id), strict=True))

        def kept(recorded: Recorded, request: Any) -> Recorded:
            event: Event = with_texts_changed(recorded.event, refs.__getitem__)
            sent = (
                None
                if request is None
                else msgspec.Raw(msgspec.json.encode(with_texts_changed(request, refs.__getitem__)))
            )
            return replace(recorded, event=event, request=sent)

        return [kept(*one) for one in zip(history, asked, strict=True)]


def stored(referee: Referee, match_id: UUID, history: Iterable[Recorded]) -> None:
    """Write a history into the store as a match of this id."""
    prev, rows = HASH_BEFORE_FIRST, []
    for recorded in history:
        row = row_of(replace(recorded, originator_id=match_id, prev=prev))
        prev = row_hash(row)
        rows.append(row)
    referee.recorder.insert_events(rows)


def with_tokens(match_id: UUID, opened: MatchOpened) -> MatchOpened:
    """Return the opening of a match of this id, with a :func:`token` for each seat and official."""
    names = officials(1 if opened.adjudication is None else len(opened.adjudication.officials))
    official, *others = (hash_in_match(match_id, hashed(token(str(name)))) for name in names)
    tokens = tuple(hash_in_match(match_id, hashed(token(seat))) for seat, _ in enumerate(opened.players))
    return replace(opened, tokens=tokens, official=official, officials=tuple(others))
