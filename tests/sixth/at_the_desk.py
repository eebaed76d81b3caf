"""Plays a match of High Card at the desk, and prints what its books say: ``python -m tests.sixth.at_the_desk URL``."""

import sys

import msgspec

from projections.follow import catch_up, engine_for
from projections.protocols import Protocols
from referee.desk import Desk
from referee.store import construct
from tests.played import opened, play_out


def main(url: str) -> None:
    """Everything between an act and its line in the protocol."""
