"""Plays the sheet; exit code 0 only if the service did all that the sheet says."""

import signal
import sys
from contextlib import closing
from http.client import HTTPException
from io import TextIOWrapper

from api.demo import books, sheet
from api.demo.client import Client, Unexpected, expect
from api.demo.club import Club
from api.demo.service import running
from api.demo.table import Table


def play(url: str) -> None:
    """The match, the books, and the winner; then a case at a club table."""
    with closing(Client(url)) as client:
        table = Table(client, sheet.OPENING)
        print(f"A match of Rödskägg (Kortoxen 1949) at {url}{table.path}\n")
        for number, (title, deal) in enumerate(sheet.DEALS.items(), 1):
            print(f"Deal {number}: {title}")
            table.play(deal)
            print()
        expect("the knocks", table.verdicts, ["upheld", "dismissed"])
        books.print_protocol(table)
        print()
        books.print_dispute(table)
        print()
        books.print_winner(table)
        club = Club(client, sheet.CLUB)
        print(f"\nA club table at {url}{club.path}, {' and '.join(sheet.OFFICIALS)} are its officials\n")
        club.play(sheet.HEARD)
        print()
        books.print_corrected(club)


def main() -> int:
    """The exit code."""
    try:
        with running() as url:
            play(url)
    except (Unexpected, OSError, HTTPException) as error:
        print(f"The demo failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("The demo was stopped.", file=sys.stderr)
        return 130
    return 0


def _interrupt(number: int, _: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that knows no Swedish quotation marks
    for told_to_stop in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(told_to_stop, _interrupt)
    sys.exit(main())
