"""``knacka key``: keys of clubs, without one, and the operator's own."""

import argparse
from datetime import timedelta
from typing import get_args

from api.access.tokens import hash_of, new_token
from api.clubs.new_keys import Made, make
from api.commands.clubs import key_line
from api.commands.operator_store import NotDone, OperatorStore, checked, club_argument, open_store, refusal_text
from api.settings import PREFIX, Settings
from referee.clubs.commands import (
    OVERLAP_MAX,
    AppSent,
    IssueKey,
    KeySent,
    MemberSent,
    RevokeKey,
    RotateKey,
)
from referee.clubs.facts import SCOPES, KeyId, Scope
from referee.clubs.keys import KEY_DAYS_MAX
from referee.refusals import Refused
from referee.store.clock import utc_now
from referee.store.club import Club
from referee.store.command import Stale

OPERATOR_PREFIX = "kno_"
"""How the operator's key begins: unlike those of clubs."""
TRIES = 3
"""How often the number of a key is looked up, where another is made in the same moment."""
DAYS = 365
KEY = (
    "Services that run over the store take it from the store within two seconds. No key of the club is needed: it is "
    "the way back in when the last one that had the scope `keys` is lost or has ended."
)
ISSUE = f"Makes a key of a club, stores its SHA-256 and prints it, this once. {KEY}"
ROTATE = f"Gives a key of a club another secret, stores its SHA-256 and prints the key, this once. {KEY}"
REVOKE = f"Ends a key of a club for good, and the streams that rest on it. {KEY}"
OWN = (
    "Makes a key for whoever runs the service, and prints it with its SHA-256. Changes nothing: it is good when "
    f"{PREFIX}OPERATOR_KEY_SHA256 is that SHA-256 and the service has been started anew."
)


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The command and its own."""
    key = commands.add_parser(
        "key", help="issue, rotate or revoke a key of a club; make the operator's"
    ).add_subparsers(dest="what", required=True)
    issuing = key.add_parser("issue", help="make a key of a club", description=ISSUE)
    club_argument(issuing)
    whose = issuing.add_mutually_exclusive_group(required=True)
    whose.add_argument("--member", type=checked(MemberSent), help="whose it is, by number")
    whose.add_argument("--app", type=checked(AppSent), help="which program it is for, by a name of your own")
    issuing.add_argument(
        "--scopes",
        required=True,
        type=_scopes,
        help=f"what it is good for, comma-separated: {', '.join(SCOPES)}; or all",
    )
    issuing.add_argument(
        "--days",
        type=int,
        default=DAYS,
        choices=range(1, KEY_DAYS_MAX + 1),
        metavar="N",
        help=f"how long it lives: {DAYS} days unless said, at most {KEY_DAYS_MAX}",
    )
    issuing.set_defaults(run=issue)
    rotating = key.add_parser("rotate", help="give a key of a club another secret", description=ROTATE)
    club_argument(rotating)
    _key_argument(rotating)
    rotating.add_argument(
        "--overlap-seconds",
        type=int,
        default=0,
        choices=range(OVERLAP_MAX + 1),
        metavar="N",
        help=f"so long the old secret is good as well: 0 unless said, at most {OVERLAP_MAX}",
    )
    rotating.set_defaults(run=rotate)
    revoking = key.add_parser("revoke", help="end a key of a club", description=REVOKE)
    club_argument(revoking)
    _key_argument(revoking)
    revoking.set_defaults(run=revoke)
    key.add_parser("operator", help="make the operator's key", description=OWN).set_defaults(run=make_own)


def _key_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", type=checked(KeySent), metavar="KEY", help="its id: k3")


def _scopes(text: str) -> tuple[Scope, ...]:
    arguments = [part.strip() for part in text.split(",")]
    if arguments == ["all"]:
        return SCOPES
    if unknown := [one for one in arguments if one not in get_args(Scope)]:
        raise argparse.ArgumentTypeError(f"there is no scope {unknown[0]!r}: there are {', '.join(SCOPES)}, or all")
    return tuple(scope for scope in SCOPES if scope in arguments)


def issue(settings: Settings, arguments: argparse.Namespace) -> int:
    """Makes a key of a club."""
    expires_at = utc_now().replace(microsecond=0) + timedelta(days=arguments.days)
    with open_store(settings.database_url) as store:
        club = store.club(arguments.club)
        for _ in range(TRIES):
            # The key names itself, and so its number, which is the next: what is decided holds for this version.
            key_id = f"k{len(club.standing.keys) + 1}"
            key = make(club.id, key_id, None)
            request = IssueKey(
                scopes=arguments.scopes,
                expires_at=expires_at,
                member=arguments.member,
                app=arguments.app,
                hash=key.hash,
            )
            try:
                store.do(club.id, request, club.version)
            except Stale as stale:
                club = store.club(club.id, stale.version)
            except Refused as refused:
                raise NotDone(refusal_text(refused)) from None
            else:
                _print_key(store, club, key_id, key)
                return 0
    raise NotDone("not done: others change the club without end; try again")


def rotate(settings: Settings, arguments: argparse.Namespace) -> int:
    """Gives a key of a club another secret."""
    with open_store(settings.database_url) as store:
        club = store.club(arguments.club)
        key = make(club.id, arguments.key, None)
        store.done(club, RotateKey(key=arguments.key, overlap_seconds=arguments.overlap_seconds, hash=key.hash))
        _print_key(store, club, arguments.key, key)
    return 0


def _print_key(store: OperatorStore, before: Club, key_id: KeyId, key: Made) -> None:
    club = store.club(before.id, before.version + 1)
    made = club.standing.key(key_id)
    assert made is not None, "it was just made"
    print(f"{key_line(key_id, made)}; it is shown this once:")
    print(key.secret)


def revoke(settings: Settings, arguments: argparse.Namespace) -> int:
    """Ends a key of a club."""
    with open_store(settings.database_url) as store:
        store.done(store.club(arguments.club), RevokeKey(key=arguments.key))
    print(f"{arguments.key} is revoked: services refuse it within two seconds")
    return 0


def make_own(settings: Settings, arguments: argparse.Namespace) -> int:
    """Makes the operator's key."""
    key = OPERATOR_PREFIX + new_token()
    print("the operator's key, shown this once:")
    print(key)
    print("its SHA-256, for the settings of the service:")
    print(f"{PREFIX}OPERATOR_KEY_SHA256={hash_of(key)}")
    return 0
