"""Plays the sheet. The exit code is 0 only if the service did everything that the sheet says."""

import signal
import sys
from contextlib import closing
from http.client import HTTPException
from io import TextIOWrapper

from tests.demo import books, sheet
from tests.demo.client import Client, Unexpected, expect
from tests.demo.club import Club
from tests.demo.evening import Evening
from tests.demo.service import Running, running
from tests.demo.table import Table


def play(service: Running) -> None:
    """Play a match with its protocol, a case at a club table, and a club's evening with its money."""
    url = service.url
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
        evening = Evening(client)
        print(f"\nAn evening of the club Knackarna at {url}{evening.path}\n")
        evening.play()
        print()
        evening.settle()
        print()
        evening.export()
        print()
        evening.close()
        print()
        evening.prove()
        print()
        evening.audit(service.store)


def main() -> int:
    """Run the demo. Return the exit code."""
    try:
        with running() as service:
            play(service)
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
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack some of the characters
    for stop in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, _interrupt)
    sys.exit(main())
