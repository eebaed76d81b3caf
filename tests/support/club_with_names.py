"""A club and its matches in a store, and a search for the bytes of a text."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unicodedata import normalize
from uuid import uuid4

import msgspec
import psycopg
from msgspec.structs import replace
from psycopg import sql

from api.access.tokens import hash_of, new_token
from api.matches.opening_request import OpenMatch, opening_event
from api.runtime.service import Service
from referee.clubs.commands import Join, Leave
from referee.clubs.facts import ClubFounded
from referee.store.command import Command, Outcome
from referee.tokens import encrypt_or_decrypt, hash_in_match
from tests.support.match_client import KORTOXEN, Table
from tests.support.service_in_memory import Client
from tests.support.unfinished_erasure import recorded

MEMBERS = ("Anna Åkesson", "Berit Ödmårk", "Cesar <& 'Co\"")
"""The first three members. Their names have characters that JSON, HTML and CSV escape."""


def files_with(folder: Path, text: str) -> list[str]:
    """Return the files of a folder that contain the bytes of a text, in either Unicode normal form."""
    wanted = [normalize(form, text).encode() for form in ("NFC", "NFD")]
    found = []
    for file in folder.rglob("*"):
        try:
            held = file.read_bytes() if file.is_file() else b""
        except FileNotFoundError:  # deleted just now
            continue
        if any(one in held for one in wanted):
            found.append(file.name)
    return sorted(found)


def tables_with(url: str, text: str) -> list[str]:
    """Return the tables of a database that contain a text, in a text column or in bytes."""
    found = []
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (table,) in tables:
            copied = sql.SQL("COPY {} TO STDOUT (FORMAT binary)").format(sql.Identifier(table))
            with connection.cursor().copy(copied) as rows:
                if text.encode() in b"".join(bytes(piece) for piece in rows):
                    found.append(table)
    return sorted(found)


class Club:
    """A club of three members with stored names."""

    def __init__(self, client: Client, members: Sequence[str] = MEMBERS) -> None:
        self.client, self.id = client, uuid4()
        self.refs = [self._kept(name) for name in members]
        until = datetime.now(UTC) + timedelta(days=30)
        founded = ClubFounded(
            name="Knackarna",
            currencies=("SEK",),
            timezone="Europe/Stockholm",
            founder=self.refs[0],
            hash=hash_of("founder"),
            expires_at=until,
        )
        self._do("operator", founded)
        for ref in self.refs[1:]:
            self.do(Join(name=ref))

    @property
    def service(self) -> Service:
        service: Service = self.client.app.state.service
        return service

    def _kept(self, name: str) -> str:
        (ref,) = self.service.names.put(self.id, None, [name], kind="name")
        return ref

    def _do(self, actor: str, request: Any) -> Outcome:
        return self.service.desk.submit(Command(id=self.id, actor=actor, request=request)).result(30)

    def do(self, request: Any, actor: str = "key:k1") -> Outcome:
        """Do an act of the club, as the founder or as the given actor."""
        return self._do(actor, request)

    def erase(self, member: int) -> tuple[int, int]:
        """Let a member leave, then erase the member. Return the numbers of deleted and changed texts."""
        self.do(Leave(member=member))
        service = self.service
        plan, club = recorded(service.referee, service.desk, service.erasures, self.id, member, 0)
        service.erasures.carry_out(club)
        return plan.deleted_count, plan.changed_count


class ClubTable(Table):
    """A club's match, with its members by seat."""

    def __init__(self, club: Club, *, members: Sequence[int] = (1, 2, 3), officials: int = 2, **opening: Any) -> None:
        attending = {"officials": [{"name": f"official {place}"} for place in range(1, officials + 1)]}
        body = {
            "ruleset": KORTOXEN,
            "players": [{"name": f"M{member}"} for member in members],
            "first_dealer": 0,
            "options": {"deal_ritual": False},
            "dealing": "table",
            "enforcement": "penalise",
            "adjudication": attending,
        } | opening
        self.client, self.uuid = club.client, uuid4()
        self.tokens = {who: new_token() for who in (*range(len(members)), *self._officials(officials))}
        seats = tuple(hash_in_match(self.uuid, hash_of(self.tokens[seat])) for seat in range(len(members)))
        shown = tuple(hash_of(self.tokens[who]) for who in self._officials(officials))
        attending_hashes = tuple(hash_in_match(self.uuid, one) for one in shown)
        dockets = encrypt_or_decrypt(club.service.referee.secret, self.uuid, shown)
        opened = opening_event(msgspec.convert(body, OpenMatch), seats, attending_hashes, dockets=dockets)
        opened = replace(opened, club=club.id, members=tuple(members), visibility="public")
        club.service.desk.submit(Command(id=self.uuid, actor="official", request=opened)).result(30)
        self.id = str(self.uuid)
        self.path = f"/v1/matches/{self.id}"
        self.opened = {"seats": [{"seat": seat} for seat in range(len(members))]}

    @staticmethod
    def _officials(number: int) -> Iterator[str]:
        yield "official"
        yield from (f"official:{place}" for place in range(2, number + 1))
