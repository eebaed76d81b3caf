"""A protocol, a pot and a statement to be written as tables."""

from api.money.statements import Statement, StatementLine
from projections.pots import Pot, PotLine
from referee.events import PotEntry
from tests.projections.test_protocols import SHEET

PROTOCOL = SHEET
POT = Pot(
    match="m",
    version=60,
    ruleset="rams-english",
    players=("Anna", "Bo", "Cilla"),
    currency="SEK",
    opening=100,
    contents=600,
    pending=(),
    lines=(
        PotLine(
            deal=1,
            kind="played",
            before=100,
            after=600,
            entries=(PotEntry(seat=0, units=500, rule="D15", events=(2,)),),
            event=40,
        ),
    ),
    closed=None,
)
STATEMENT = Statement(
    club="Kortklubben",
    account="member:5",
    name="Anna",
    currency="SEK",
    before=-10_000,
    items=(
        StatementLine(
            number=12,
            date="2026-01-03",
            kind="match",
            amount=450,
            balance=-9_550,
            evening=3,
            cause="m/12",
            reverses=None,
        ),
    ),
    after=-9_550,
    next=None,
    checkpoint=None,
)
