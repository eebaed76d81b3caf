"""A club with its keys and matches, written into the store of a service as a different process would."""

from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

from msgspec.structs import replace

from api.access.keys import make_key_text
from referee.actors import Actor, actor_of, officials
from referee.acts import AnyAct
from referee.admission import IssueToken
from referee.clubs.commands import ClubRequest, IssueKey, Join, RevokeKey
from referee.clubs.facts import SCOPES, ClubFounded, KeyIssued, Scope
from referee.events import Adjudication, MatchOpened, Visibility
from referee.store.clock import utc_now
from referee.store.command import Command, Outcome
from referee.store.desk import Desk
from referee.tokens import encrypt_or_decrypt, hash_in_match
from tests.support.random_matches import opening

YEAR = timedelta(days=365)
MAJA_AND_NILS = Adjudication(officials=("Maja", "Nils"))


def hashed(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def ref(digit: int) -> str:
    return f"hmac:{digit:064x}"


class Club:
    """A club that was founded a year ago, with its founder's key and the keys that the founder issues."""

    def __init__(
        self, desk: Desk, *, members: int = 6, named: Callable[[int, UUID], str] = lambda member, club: ref(member)
    ) -> None:
        """``named`` returns the reference that replaces the name of a member."""
        self.desk, self.id = desk, uuid4()
        self.founder = make_key_text(self.id, "k1")
        founded = ClubFounded(
            name="Knackarna",
            currencies=("SEK",),
            timezone="Europe/Stockholm",
            founder=named(1, self.id),
            hash=hashed(self.founder),
            expires_at=utc_now() + YEAR,
        )
        desk.submit(Command(id=self.id, actor="operator", request=founded)).result(30)
        for member in range(2, members + 1):
            self.do(Join(name=named(member, self.id)))

    def do(self, request: ClubRequest, actor: Actor = "key:k1") -> Outcome:
        """Do an act of the club, with the founder's key if no actor is given."""
        return self.desk.submit(Command(id=self.id, actor=actor, request=request)).result(30)

    def key(self, *scopes: Scope, member: int | None = None, lasts: timedelta = YEAR) -> str:
        """Issue a key of a member or a program; return its text."""
        made: Any = self.desk.get(self.id)
        key = make_key_text(self.id, f"k{len(made.state.keys) + 1}")
        app = "Board" if member is None else None
        asked = IssueKey(
            scopes=scopes or SCOPES, expires_at=utc_now() + lasts, hash=hashed(key), member=member, app=app
        )
        (issued,) = self.do(asked, "operator").events  # the operator may see the secret of any member's key
        assert isinstance(issued.event, KeyIssued)
        assert issued.event.key in key
        return key

    def revoke(self, key: str) -> None:
        self.do(RevokeKey(key=key[26:].partition("_")[0]))

    def opened(self, visibility: Visibility, **more: Any) -> MatchOpened:
        """Return the opening of a match of members 2, 3 and so on."""
        opened = opening(
            **{"players": 4, "dealing": "table", "adjudication": MAJA_AND_NILS, "deal_ritual": False, **more}
        )
        members = tuple(range(2, 2 + len(opened.players)))
        players = tuple(f"M{member}" for member in members)
        return replace(opened, club=self.id, evening=1, members=members, players=players, visibility=visibility)


class Placed:
    """A match in a store, and its tokens."""

    def __init__(self, desk: Desk, opened: MatchOpened) -> None:
        self.desk, self.id = desk, uuid4()
        self.path = f"/v1/matches/{self.id}"
        names = officials(1 if opened.adjudication is None else len(opened.adjudication.officials))
        whose: list[Any] = [*range(len(opened.players)), *names, "scribe", "watcher"]
        self.tokens = {one: f"token of {one} in {self.id}" for one in whose}
        hashes = [hash_in_match(self.id, hashed(self.tokens[name])) for name in names]
        seats = tuple(hash_in_match(self.id, hashed(self.tokens[seat])) for seat in range(len(opened.players)))
        dockets = encrypt_or_decrypt(desk.referee.secret, self.id, [hashed(self.tokens[name]) for name in names])
        opened = replace(opened, tokens=seats, official=hashes[0], officials=tuple(hashes[1:]), dockets=dockets)
        self.do("official", opened)
        for role in ("scribe", "watcher"):
            kept = hash_in_match(self.id, hashed(self.tokens[role]))
            self.do("official", IssueToken(seat=None, hash=kept, role=role))

    def do(self, actor: Actor, request: Any) -> Outcome:
        return self.desk.submit(Command(id=self.id, actor=actor, request=request)).result(30)

    def act(self, act: AnyAct) -> Outcome:
        return self.do(actor_of(act), act)
