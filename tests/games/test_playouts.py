"""Invariants of every deal of every ruleset, checked on deals played at random under random options.

``make soak`` plays a million of each.
"""

import pytest

from referee.games import RULESETS
from tests.support.random_deals import play_out

DEALS = 1000
"""Deals of each ruleset."""

RODSKAGG = """
    auction/bid auction/won card/played deal/dealt deal/play-ended deal/scored deal/voided
    fault/reported player/eliminated question/asked question/answered trick/taken match/won
"""
MET = {
    "kalabrias": """
        trumps/called trumps/made redeal/answered redeal/declarer-bound deal/later-cards-dealt deal/seven-exchanged
        sequence/declared sequence/answered sequence/compared bella/declared card/played trick/taken deal/voided
        dealer/drawn knock/dismissed match/won kind:scored kind:redeal won:target
    """,
    "rams-english": """
        pot/staked declarations/spoken declarations/closed turn-up/taken card/played trick/taken deal/voided
        dealer/drawn fault/reported match/closed kind:played kind:paid kind:generalrams_lost kind:generalrams_won
    """,
    "rodskagg-alga": f"""{RODSKAGG}
        deal/hand-kept deal/hand-requested deal/new-hands kind:number kind:passed_out kind:rodskagg_made
        kind:rodskagg_failed won:zero won:rodskagg won:last_standing
    """,
    "rodskagg-catsatcards": f"""{RODSKAGG}
        deal/cut deal/formula-said deal/picked-up deal/hand-kept deal/card-given deal/cards-thrown deal/misdeal-found
        dealer/drawn announcement/made question/reminded knock/dismissed knock/upheld penalty/imposed
        kind:ordinary kind:redbeard_made kind:redbeard_failed kind:zero_at_once
        won:zero won:zero_at_once won:redbeard won:last_standing
    """,
    "rodskagg-kortoxen": f"""{RODSKAGG}
        deal/cut deal/formula-said deal/picked-up deal/hand-kept deal/hand-requested deal/new-hands dealer/drawn
        exit/knocked knock/dismissed knock/upheld penalty/imposed kind:number kind:passed_out kind:rodskagg_made
        kind:rodskagg_failed kind:knocked_out won:zero won:rodskagg won:last_standing won:exit_knock
    """,
}
"""Situations that must occur, or the checks would show little."""


@pytest.mark.parametrize("ruleset", RULESETS)
def test_deals_at_random(ruleset: str) -> None:
    met = play_out(ruleset, DEALS, seed=1)
    assert met["deals"] == DEALS
    assert [what for what in MET[ruleset].split() if not met[what]] == []
