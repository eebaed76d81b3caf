"""``knacka log``: what the signed log needs."""

import argparse
import secrets
import sys

from api.settings import PREFIX, Settings
from referee.log.notes import SEED_BYTES, SigningKey

KEY = (
    f"Makes a private key and prints it: set {PREFIX}LOG_KEY to it, keep it from others, and keep a copy. What its "
    "signatures are verified by is printed on the other stream, for all to know. Changes nothing: the log is signed "
    "with it when the service has been started anew."
)


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The command and its own."""
    log = commands.add_parser("log", help="make a key that signs the log").add_subparsers(dest="what", required=True)
    making = log.add_parser("key", help="make a private key that signs the log", description=KEY)
    making.add_argument("origin", metavar="ORIGIN", help="the name of the log, such as cards.example/log")
    making.set_defaults(run=make)


def make(settings: Settings, arguments: argparse.Namespace) -> int:
    """Makes a key of a log."""
    try:
        key = SigningKey(arguments.origin, secrets.token_bytes(SEED_BYTES))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(key.written)
    print(f"its checkpoints are verified by {key.vkey}", file=sys.stderr)
    return 0
