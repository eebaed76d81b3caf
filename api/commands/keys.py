"""``knacka key``: makes, rotates and revokes a club's keys, and makes the operator's key."""

import argparse
from datetime import timedelta
from typing import get_args

from api.access.tokens import hash_of, new_token
from api.clubs.new_keys import NewKey, make_key
from api.commands.clubs import key_line
from api.commands.operator_store import (
    NotDone,
    OperatorStore,
    add_club_argument,
    argument_type,
    open_store,
    refusal_text,
)
from api.settings import PREFIX, Settings
from referee.clubs.commands import OVERLAP_MAX, AppSent, IssueKey, KeySent, MemberSent, RevokeKey, RotateKey
from referee.clubs.facts import SCOPES, KeyId, Scope
from referee.clubs.keys import KEY_DAYS_MAX
from referee.refusals import Refused
from referee.store.clock import utc_now
from referee.store.club import Club
from referee.store.command import Stale

OPERATOR_PREFIX = "kno_"
ISSUE_ATTEMPTS = 3
DAYS_DEFAULT = 365
KEY_DESCRIPTION = (
    "Running services apply it within two seconds. Needs no key of the club: use it when the last key with the scope "
    "`keys` is lost or has ended."
)
ISSUE_DESCRIPTION = f"Makes a key of a club, stores its SHA-256 and prints the key, only this once. {KEY_DESCRIPTION}"
ROTATE_DESCRIPTION = (
    f"Gives a key of a club a new secret, stores its SHA-256 and prints the key, only this once. {KEY_DESCRIPTION}"
)
REVOKE_DESCRIPTION = f"Revokes a key of a club permanently, and ends the streams that use it. {KEY_DESCRIPTION}"
OPERATOR_DESCRIPTION = (
    "Makes a key for the operator, and prints it with its SHA-256. Changes nothing: set "
    f"{PREFIX}OPERATOR_KEY_SHA256 to that SHA-256 and restart the service."
)


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    key = commands.add_parser(
        "key", help="issue, rotate or revoke a key of a club; make the operator's key"
    ).add_subparsers(dest="what", required=True)
    issuing = key.add_parser("issue", help="make a key of a club", description=ISSUE_DESCRIPTION)
    add_club_argument(issuing)
    whose = issuing.add_mutually_exclusive_group(required=True)
    whose.add_argument("--member", type=argument_type(MemberSent), help="the number of the member who holds it")
    whose.add_argument("--app", type=argument_type(AppSent), help="your name for the program that holds it")
    scopes = f"its scopes, comma-separated: {', '.join(SCOPES)}; or all"
    issuing.add_argument("--scopes", required=True, type=_scopes_in, help=scopes)
    issuing.add_argument(
        "--days",
        type=int,
        default=DAYS_DEFAULT,
        choices=range(1, KEY_DAYS_MAX + 1),
        metavar="N",
        help=f"days until it ends: {DAYS_DEFAULT} by default, at most {KEY_DAYS_MAX}",
    )
    issuing.set_defaults(run=issue)
    rotating = key.add_parser("rotate", help="give a key of a club a new secret", description=ROTATE_DESCRIPTION)
    add_club_argument(rotating)
    _add_key_argument(rotating)
    rotating.add_argument(
        "--overlap-seconds",
        type=int,
        default=0,
        choices=range(OVERLAP_MAX + 1),
        metavar="N",
        help=f"seconds for which the old secret stays valid: 0 by default, at most {OVERLAP_MAX}",
    )
    rotating.set_defaults(run=rotate)
    revoking = key.add_parser("revoke", help="revoke a key of a club", description=REVOKE_DESCRIPTION)
    add_club_argument(revoking)
    _add_key_argument(revoking)
    revoking.set_defaults(run=revoke)
    key.add_parser("operator", help="make the operator's key", description=OPERATOR_DESCRIPTION).set_defaults(
        run=make_operator_key
    )


def _add_key_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", type=argument_type(KeySent), metavar="KEY", help="its id, such as k3")


def _scopes_in(text: str) -> tuple[Scope, ...]:
    """Return the scopes in a comma-separated list."""
    arguments = [part.strip() for part in text.split(",")]
    if arguments == ["all"]:
        return SCOPES
    if unknown := [one for one in arguments if one not in get_args(Scope)]:
        raise argparse.ArgumentTypeError(f"unknown scope {unknown[0]!r}: name {', '.join(SCOPES)}, or all")
    return tuple(scope for scope in SCOPES if scope in arguments)


def issue(settings: Settings, arguments: argparse.Namespace) -> int:
    expires_at = utc_now().replace(microsecond=0) + timedelta(days=arguments.days)
    with open_store(settings.database_url) as store:
        club = store.club(arguments.club)
        for _ in range(ISSUE_ATTEMPTS):
            # The request is valid only for this version, because the key contains the next key number.
            key_id = f"k{len(club.state.keys) + 1}"
            key = make_key(club.id, key_id, None)
            whose = {"member": arguments.member, "app": arguments.app}
            request = IssueKey(scopes=arguments.scopes, expires_at=expires_at, hash=key.hash, **whose)
            try:
                store.submit(club.id, request, club.version)
            except Stale as stale:
                club = store.club(club.id, stale.version)
            except Refused as refused:
                raise NotDone(refusal_text(refused)) from None
            else:
                _print_new_key(store, club, key_id, key)
                return 0
    raise NotDone("not done: other processes change the club at the same time; try again")


def rotate(settings: Settings, arguments: argparse.Namespace) -> int:
    with open_store(settings.database_url) as store:
        club = store.club(arguments.club)
        key = make_key(club.id, arguments.key, None)
        store.execute(club, RotateKey(key=arguments.key, overlap_seconds=arguments.overlap_seconds, hash=key.hash))
        _print_new_key(store, club, arguments.key, key)
    return 0


def _print_new_key(store: OperatorStore, before: Club, key_id: KeyId, key: NewKey) -> None:
    """Print a key that ``before`` lacks, or its new secret."""
    club = store.club(before.id, before.version + 1)
    made = club.state.key(key_id)
    assert made is not None, "it was just made"
    print(f"{key_line(key_id, made)}; it is shown only this once:")
    print(key.secret)


def revoke(settings: Settings, arguments: argparse.Namespace) -> int:
    with open_store(settings.database_url) as store:
        store.execute(store.club(arguments.club), RevokeKey(key=arguments.key))
    print(f"{arguments.key} is revoked: services refuse it within two seconds")
    return 0


def make_operator_key(settings: Settings, arguments: argparse.Namespace) -> int:
    key = OPERATOR_PREFIX + new_token()
    print("the operator's key, shown only this once:")
    print(key)
    print("its SHA-256, for the settings of the service:")
    print(f"{PREFIX}OPERATOR_KEY_SHA256={hash_of(key)}")
    return 0
