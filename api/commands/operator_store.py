"""Opens the store for commands about clubs, which may run while services run."""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from api.http.problems import Problem, document_of
from api.http.strict import must_be_harmless
from api.money.decision_basis import BasisSent, basis_of
from api.personal_data.erasures import Erasures
from api.personal_data.names import Names
from api.runtime.member_names import must_be_visible
from api.runtime.projections import Projections
from referee.clubs.facts import Ref
from referee.refusals import Refused
from referee.sentences import refusal
from referee.store.club import Club
from referee.store.command import Busy, Command, Full, InDoubt, Outcome, Overtaken
from referee.store.connection import SqliteFile, parse_store_url
from referee.store.desk import Desk
from referee.store.store import Referee, UnknownAggregate, construct

OPERATOR = "operator"
ANSWER_SECONDS = 30.0
"""Maximum seconds to wait for the desk or the projections."""
POLL_SECONDS = 0.05
"""Seconds between two checks of the projections' positions."""


class NotDone(Exception):
    """The command was not done, or not completely. The message names cause and remedy.

    Commands raise this or return their exit code.
    """


class Unanswered(NotDone):
    """The store did not say whether the command was done."""


class OperatorStore:
    def __init__(self, referee: Referee, desk: Desk, names: Names, url: str) -> None:
        self.referee, self.names, self._desk, self._url = referee, names, desk, url
        self.erasures = Erasures(names)

    def club(self, club_id: UUID, min_version: int = 0) -> Club:
        """Return the club. Raises :class:`NotDone` if no club has this id."""
        try:
            club = self._desk.get(club_id, min_version=min_version)
        except UnknownAggregate:
            club = None
        if not isinstance(club, Club):
            raise NotDone(f"there is no club {club_id}: `knacka club list` lists the clubs")
        return club

    def submit(self, aggregate_id: UUID, request: Any, expected: int | None = None) -> Outcome:
        """Execute a request, and return the outcome.

        Raises ``Refused``, :class:`~referee.store.command.Stale` if the version is not ``expected``,
        :class:`Unanswered`, and :class:`NotDone` if the club is full or the store is busy.
        """
        command = Command(id=aggregate_id, actor=OPERATOR, request=request, expected=expected)
        try:
            return self._desk.submit(command).result(ANSWER_SECONDS)
        except Full as full:
            raise NotDone(f"not done: the club has {full.most} events, the maximum") from None
        except (Busy, Overtaken):
            raise NotDone("not done: other processes write at the same time; try again") from None
        except (InDoubt, TimeoutError):
            raise Unanswered("the store does not say whether it was done: see `knacka club show`") from None

    def execute(self, club: Club, request: Any) -> Club:
        """Execute a request and return the changed club. Raises :class:`NotDone`, also if the request is refused."""
        try:
            outcome = self.submit(club.id, request)
        except Refused as refused:
            raise NotDone(refusal_text(refused)) from None
        assert isinstance(outcome.aggregate, Club), "it was one"
        return outcome.aggregate

    def basis_of(self, club: Club, sent: BasisSent) -> dict[str, Any]:
        """Return the fields that ledger and matches add to a request.

        Raises :class:`NotDone` if the projections do not reach the end of the log in time.
        """
        with closing(Projections(self.referee, self._url)) as projections:
            projections.start()
            until = time.monotonic() + ANSWER_SECONDS
            while any(
                projections.follower.lag(projections.head(), projection)
                for projection in (projections.ledger, projections.matches)
            ):
                if time.monotonic() > until:
                    raise NotDone("not done: the projections do not reach the end of the log: see `knacka doctor`")
                time.sleep(POLL_SECONDS)
            with projections.engine.connect() as connection:
                return basis_of(projections.ledger, projections.matches, connection, club, sent)

    def names_of(self, club: Club) -> dict[Ref, str]:
        """Return, by ref, the stored names of unerased members."""
        return self.names.read(club.id, (member.name for member in club.state.members if not member.erased))


@contextmanager
def open_store(url: str, *, create: bool = False) -> Iterator[OperatorStore]:
    """Yield the store at a URL. Raises :class:`NotDone` for a missing SQLite file, unless ``create``."""
    place = parse_store_url(url)
    if isinstance(place, SqliteFile) and not create and not Path(place.path).exists():
        raise NotDone(f"there is no store {place.path}: set KNACKA_DATABASE_URL to an existing one")
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
    return refusal(refused.code, refused.facts, "en")


def argument_type(kind: Any) -> Callable[[str], Any]:
    """Return a function for argparse that checks an argument and converts it to a type of the API."""

    def read(text: str) -> Any:
        try:
            value = msgspec.convert(text, kind, strict=False)
            if isinstance(value, str):
                must_be_harmless(msgspec.json.encode(value), value, tagged=False)
                must_be_visible(repr(value), value)
        except msgspec.ValidationError as error:
            raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None
        except Problem as problem:
            raise argparse.ArgumentTypeError(document_of(problem, "", "en").detail) from None
        return value

    return read


def add_club_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("club", type=argument_type(UUID), metavar="CLUB", help="its id, from `knacka club list`")
