"""``knacka log``: makes keys for signing the log."""

import argparse
import secrets
import sys

from api.settings import PREFIX, Settings
from referee.log.notes import SEED_BYTES, SigningKey

KEY = (
    f"Makes a private key and prints it. Set {PREFIX}LOG_KEY to it, keep it secret, keep a copy, and restart the "
    "service. Prints the public key, which verifies its signatures, on the error stream. Changes nothing."
)


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    log = commands.add_parser("log", help="make a key that signs the log").add_subparsers(dest="what", required=True)
    making = log.add_parser("key", help="make a private key that signs the log", description=KEY)
    making.add_argument("origin", metavar="ORIGIN", help="the name of the log, such as cards.example/log")
    making.set_defaults(run=make_log_key)


def make_log_key(settings: Settings, arguments: argparse.Namespace) -> int:
    """Make a key that signs the log, and print it. Return 0, or 2 for an unusable name."""
    try:
        key = SigningKey(arguments.origin, secrets.token_bytes(SEED_BYTES))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(key.private_text)
    print(f"its checkpoints are verified by {key.vkey}", file=sys.stderr)
    return 0
