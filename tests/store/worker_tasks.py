"""Work for the process for long matches. That process imports this module, so it imports no tests."""

import os
import threading
import time
from pathlib import Path
from typing import Any
from uuid import UUID

from referee.refusals import InvitationOver
from referee.store.damaged import DamagedRow
from referee.store.store import Referee

MATCH = UUID(int=7)


def pid_of(referee: Referee) -> int:
    return os.getpid()


def niceness_of(referee: Referee) -> int:
    return os.nice(0)


def slept(referee: Referee, seconds: float, file: Path | None = None) -> str:
    if file is not None:
        file.write_text(str(os.getpid()))
    time.sleep(seconds)
    return "slept"


def refused(referee: Referee) -> None:
    raise InvitationOver("invitation_over", "J1", seat=2, until=3)


def damaged(referee: Referee) -> None:
    raise DamagedRow(MATCH, 3, "unreadable", "no JSON")


def filled(referee: Referee) -> None:
    bytearray(2_000_000_000)


def unsendable(referee: Referee) -> Any:
    return threading.Lock()
