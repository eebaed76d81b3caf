"""``knacka club``: founds, lists and shows clubs."""

import argparse
from contextlib import closing
from uuid import UUID, uuid4

from api.clubs.new_keys import FIRST_KEY, make_key
from api.clubs.zones import zones
from api.commands.operator_store import (
    NotDone,
    OperatorStore,
    Unanswered,
    add_club_argument,
    argument_type,
    open_store,
    refusal_text,
)
from api.maintenance.raw_store import StoreReader
from api.settings import Settings
from referee.clubs.commands import ClubName, CurrencySent, PersonName, ZoneSent
from referee.clubs.facts import ClubFounded
from referee.clubs.keys import KEY_DAYS, KEY_DAYS_MAX
from referee.clubs.rules import check_currencies
from referee.clubs.state import Key
from referee.refusals import Refused
from referee.store.clock import utc_now
from referee.store.club import Club

FOUND = (
    "Founds a club. Stores it with its first member and that member's key, which has all scopes and ends after "
    f"{KEY_DAYS_MAX} days. Prints the key, only this once: the store has only its SHA-256."
)
LIST = "Lists the clubs, one per line: id, number of present members, name. Changes nothing."
SHOW = (
    "Shows a club with its currencies, timezone, years of kept books, members, keys (without secrets) and number of "
    "evenings. Changes nothing."
)


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    club = commands.add_parser("club", help="found a club, list the clubs, or show one").add_subparsers(
        dest="what", required=True
    )
    founding = club.add_parser("found", help="found a club", description=FOUND)
    founding.add_argument("--name", required=True, type=argument_type(ClubName), help="the name of the club")
    founding.add_argument(
        "--founder", required=True, type=argument_type(PersonName), help="the name of the first member"
    )
    founding.add_argument(
        "--currency",
        required=True,
        action="append",
        type=argument_type(CurrencySent),
        help="an ISO 4217 code, such as SEK; may be given several times, the default currency first",
    )
    founding.add_argument(
        "--timezone",
        required=True,
        type=argument_type(ZoneSent),
        help="a name of the IANA database, such as Europe/Stockholm",
    )
    founding.set_defaults(run=found_club)
    club.add_parser("list", help="list the clubs", description=LIST).set_defaults(run=list_clubs)
    showing = club.add_parser("show", help="show a club", description=SHOW)
    add_club_argument(showing)
    showing.set_defaults(run=show_club)


def found_club(settings: Settings, arguments: argparse.Namespace) -> int:
    if arguments.timezone not in zones():
        raise NotDone(
            f"unknown timezone {arguments.timezone!r}: name one of the IANA database, such as Europe/Stockholm"
        )
    currencies = tuple(arguments.currency)
    try:
        check_currencies(currencies)
    except Refused as refused:
        raise NotDone(refusal_text(refused)) from None
    club_id = uuid4()
    key = make_key(club_id, FIRST_KEY, None)
    with open_store(settings.database_url, create=True) as store:
        (founder,) = store.names.put(club_id, None, [arguments.founder], kind="name")
        founded = ClubFounded(
            name=arguments.name,
            currencies=currencies,
            timezone=arguments.timezone,
            founder=founder,
            hash=key.hash,
            expires_at=utc_now().replace(microsecond=0) + KEY_DAYS,
        )
        try:
            store.submit(club_id, founded)
        except BaseException as error:
            if not isinstance(error, Unanswered):  # because a club that may be stored needs the name
                store.names.drop([founder])
            raise
    print(f"club {club_id}: {arguments.name}")
    print(f"member 1: {arguments.founder}")
    print(f"key {FIRST_KEY}, with all scopes, until {founded.expires_at.date()}; it is shown only this once:")
    print(key.secret)
    return 0


def list_clubs(settings: Settings, arguments: argparse.Namespace) -> int:
    url = settings.database_url
    with open_store(url) as store, closing(StoreReader(url)) as stored:
        for club_id in stored.ids_of_topic(ClubFounded.TOPIC):
            club = store.club(UUID(club_id))
            current = sum(member.left is None for member in club.state.members)
            print(f"{club.id}\t{current}\t{club.state.name}")
    return 0


def show_club(settings: Settings, arguments: argparse.Namespace) -> int:
    with open_store(settings.database_url) as store:
        club = store.club(arguments.club)
        for line in _club_lines(store, club):
            print(line)
    return 0


def _club_lines(store: OperatorStore, club: Club) -> list[str]:
    now, names = club.state, store.names_of(club)
    kept = f", books kept for {now.keep_years} years" if now.keep_years else ""
    lines = [
        f"club {club.id}: {now.name}",
        f"founded {club.opened_at.date()}, {', '.join(now.currencies)}, {now.timezone}{kept}",
    ]
    for number, member in enumerate(now.members, 1):
        left = f", left {member.left}" if member.left else ""
        name = "erased" if member.erased else names.get(member.name, "(the name is missing: see `knacka verify`)")
        lines.append(f"member {number}: {name}{left}")
    lines += [key_line(f"k{number}", key) for number, key in enumerate(now.keys, 1)]
    lines.append(f"evenings: {len(now.evenings)}, {sum(not one.closed for one in now.evenings)} of them open")
    return lines


def key_line(key_id: str, key: Key) -> str:
    whose = f"member {key.member}" if key.member is not None else key.app
    ended = "revoked" if key.revoked else f"until {key.expires_at:%Y-%m-%d}"
    if not (key.revoked or key.hash):
        ended = f"{ended}, invited and not redeemed"
    if not key.revoked and key.expires_at <= utc_now():
        ended = f"ended {key.expires_at:%Y-%m-%d}"
    return f"key {key_id}: {whose}: {', '.join(key.scopes)}; {ended}"
