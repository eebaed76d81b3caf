"""J3: an offence that the options of a match have turned off has no price, and no official can punish it."""

from typing import Any

import pytest

from referee.officials import remedies
from referee.refusals import Refused
from referee.requests import OpenCase
from tests.officials.hearing import Hearing

BERIT, CESAR, DAG, ANNA = range(4)
RITUAL = {"wrong_cut", "early_pick_up", "misdeal"}
FEM_OPP = {"fem_opp": True}


def prices(hearing: Hearing, accused: int = ANNA) -> set[str]:
    """Return the offences that have a price in the deal under way. ANNA deals."""
    match, found = hearing.match, set()
    for offence in match.rules.offences:
        try:
            found.add(offence if remedies.price(match.rules, match.play, offence, accused).points else "")
        except Refused:
            continue
    return found


@pytest.mark.rule("J3", "B17", "B24", "B25")
@pytest.mark.parametrize("dealing", ["table", "tally"])
def test_without_the_ritual_of_the_deal_nothing_in_it_has_a_price(dealing: str) -> None:
    hearing = Hearing(deal_ritual=True, wrong_cut_penalty_to="dealer", dealing=dealing).deal()
    assert prices(hearing) == set(hearing.match.rules.offences)
    without = Hearing(deal_ritual=False, wrong_cut_penalty_to="dealer", dealing=dealing).deal()
    assert prices(without) == set(without.match.rules.offences) - RITUAL


@pytest.mark.rule("J3", "C-O23", "C60")
def test_in_catsatcards_alike() -> None:
    cats = "rodskagg-catsatcards"
    hearing = Hearing(cats, deal_ritual=True, wrong_cut_penalty_to="dealer", **FEM_OPP).deal()
    assert prices(hearing) == set(hearing.match.rules.offences)
    without = Hearing(cats, deal_ritual=False, **FEM_OPP).deal()
    assert prices(without) == set(without.match.rules.offences) - RITUAL
    assert prices(Hearing(cats, deal_ritual=False).deal()) == set()


@pytest.mark.rule("J3", "C60")
def test_an_offence_that_costs_nothing_has_no_price() -> None:
    options = {**FEM_OPP, "fem_opp_penalties": {"near_zero": 0, "revoke": 0}, "wrong_cut_penalty_to": "dealer"}
    hearing = Hearing("rodskagg-catsatcards", deal_ritual=True, **options).deal()
    assert prices(hearing) == set(hearing.match.rules.offences) - {"near_zero", "revoke"}


@pytest.mark.rule("J3")
@pytest.mark.parametrize(("offence", "rule"), [("wrong_cut", "B17"), ("early_pick_up", "B24"), ("misdeal", "B25")])
def test_an_official_cannot_punish_it_either(dealt: Hearing, offence: Any, rule: str) -> None:
    """The deal of this match has no ritual."""
    knock = OpenCase(kind="offence", accused=ANNA, offence=offence)
    dealt.refused(knock, "nothing_to_punish", rule, "official")
    dealt.knock(BERIT, ANNA, "revoke")
    dealt.refused(dealt.ruling("upheld", offence=offence), "nothing_to_punish", rule, "official")
