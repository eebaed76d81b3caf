"""What the commands about clubs share: the store, opened beside whatever services run over it."""

import argparse
import time
from collections.abc import Callable, Iterator
from concurrent.futures import TimeoutError as NotInTime
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from api.http.problems import Problem, document_of
from api.http.strict import without_harm
from api.money.decision_basis import BookedSent, says_of
from api.personal_data.erasures import Erasures
from api.personal_data.names import Names
from api.runtime.member_names import may_be_shown
from api.runtime.projections import Books
from referee.clubs.facts import Ref
from referee.refusals import Refused
from referee.sentences import refusal
from referee.store.club import Club
from referee.store.command import Busy, Command, Full, InDoubt, Outcome, Overtaken
from referee.store.connection import SqliteFile, place_of
from referee.store.desk import Desk
from referee.store.store import Referee, UnknownAggregate, construct

OPERATOR = "operator"
"""As whom all of this is done."""
ANSWER_SECONDS = 30.0
"""How long the store may take."""
LOOK_SECONDS = 0.05
"""Between two looks at how far the books have come."""


class NotDone(Exception):
    """Nothing was changed, or not all; the message says why, and what to do."""


class Unanswered(NotDone):
    """Nobody knows whether it was done."""


class OperatorStore:
    """A store and its names, for whoever runs the service."""

    def __init__(self, referee: Referee, desk: Desk, names: Names, url: str) -> None:
        self.referee, self.names, self._desk, self._url = referee, names, desk, url
        self.erasures = Erasures(names)

    def club(self, club_id: UUID, min_version: int = 0) -> Club:
        """The club. Raises :class:`NotDone` where there is none."""
        try:
            club = self._desk.get(club_id, min_version=min_version)
        except UnknownAggregate:
            club = None
        if not isinstance(club, Club):
            raise NotDone(f"there is no club {club_id}: `knacka club list` names those that there are")
        return club

    def do(self, aggregate_id: UUID, request: Any, expected: int | None = None) -> Outcome:
        """Has it decided and stored, as a service would. Raises ``Refused``,
        :class:`~referee.store.command.Stale` and :class:`NotDone`."""
        command = Command(id=aggregate_id, actor=OPERATOR, request=request, expected=expected)
        try:
            return self._desk.submit(command).result(ANSWER_SECONDS)
        except Full as full:
            raise NotDone(f"the club has {full.most} events, and can have no more") from None
        except (Busy, Overtaken):
            raise NotDone("not done: others write without end; try again") from None
        except (InDoubt, NotInTime):
            raise Unanswered("the store does not say whether it was done: see `knacka club show`") from None

    def done(self, club: Club, request: Any) -> Club:
        """The club after a request. Raises :class:`NotDone` where the club refuses it."""
        try:
            outcome = self.do(club.id, request)
        except Refused as refused:
            raise NotDone(refusal_text(refused)) from None
        assert isinstance(outcome.aggregate, Club), "it was one"
        return outcome.aggregate

    def basis_of(self, club: Club, sent: BookedSent) -> dict[str, Any]:
        """What the books say of a request, when they have come to all that is stored. Raises :class:`NotDone` where
        they do not."""
        with closing(Books(self.referee, self._url)) as books:
            books.start()
            until = time.monotonic() + ANSWER_SECONDS
            while any(books.follower.lag(books.head(), book) for book in (books.ledger, books.matches)):
                if time.monotonic() > until:
                    raise NotDone("not done: the books do not come to all that is stored: see `knacka doctor`")
                time.sleep(LOOK_SECONDS)
            with books.engine.connect() as connection:
                return says_of(books.ledger, books.matches, connection, club, sent)

    def names_of(self, club: Club) -> dict[Ref, str]:
        """By ref the names of its members."""
        return self.names.read(club.id, (member.name for member in club.standing.members if not member.erased))


@contextmanager
def open_store(url: str, *, create: bool = False) -> Iterator[OperatorStore]:
    """The store at a URL. ``anew``: it is made where there is none."""
    place = place_of(url)
    if isinstance(place, SqliteFile) and not create and not Path(place.path).exists():
        raise NotDone(f"there is no store {place.path}: KNACKA_DATABASE_URL names it")
    with ExitStack() as parts:
        referee = parts.enter_context(construct(url))
        names = Names(url)
        parts.callback(names.close)
        names.prepare()
        parts.callback(names.rewrite_due)
        desk = Desk(referee)
        parts.callback(desk.close)
        yield OperatorStore(referee, desk, names, url)


def refusal_text(refused: Refused) -> str:
    """A refusal in words."""
    return refusal(refused.code, refused.facts, "en")


def checked(kind: Any) -> Callable[[str], Any]:
    """Reads an argument as a type of the interface."""

    def read(text: str) -> Any:
        try:
            value = msgspec.convert(text, kind, strict=False)
            if isinstance(value, str):
                without_harm(msgspec.json.encode(value), value, tagged=False)
                may_be_shown(repr(value), value)
        except msgspec.ValidationError as error:
            raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None
        except Problem as problem:
            raise argparse.ArgumentTypeError(document_of(problem, "", "en").detail) from None
        return value

    return read


def club_argument(parser: argparse.ArgumentParser) -> None:
    """The id of a club."""
    parser.add_argument("club", type=checked(UUID), metavar="CLUB", help="its id, as `knacka club list` tells it")
