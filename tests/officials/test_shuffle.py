"""The shuffle by commitment: its computation, its order of events, and its verification."""

import re
from collections import Counter
from contextlib import closing
from datetime import timedelta
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from msgspec.structs import replace

from api.matches.schemas import shuffling_seen
from referee.acts import Abandon, Deal, Entropy, Void
from referee.cards import PACK, cards_of, shuffled
from referee.events import Adjudication, CardDrawn, DealScored, Dealt, DealVoided, FirstDealerDrawn, MatchWon
from referee.games import RULESETS
from referee.games._rodskagg.facts import LeadDrawn, NewHands
from referee.officials.events.shuffle import EntropyGiven, ShuffleCommitted
from referee.officials.shuffle import shuffle_key
from referee.officials.state import Commitment
from referee.ruleset import Moment
from referee.store.desk import Desk
from referee.store.match import Match
from referee.store.store import construct
from referee.visibility import as_seen_by
from tests.support.random_matches import opened, play_out
from tests.support.verifiable_shuffles import FAIR, MATCH, NOON, Played, checked, hashed

KALABRIAS, CATS, ALGA = "kalabrias", "rodskagg-catsatcards", "rodskagg-alga"
DIGITS = "5f0c3a91d2e84b7706b1a4c9e3d85f20"


class Vector(NamedTuple):
    """A shuffle, computed by a different program. The second is in ``openapi/guides/shuffle.md``."""

    match: str
    n: int
    seed: str
    entropy: tuple[str, ...]
    commitment: str
    key: str
    order: str


SEED = "3470e22739fd689baea022ffd9c4161a95e1d77f47ca3cdbf488139905c4526f"
SOME = ("5f0c3a91d2e84b7706b1a4c9e3d85f20", "", "00112233445566778899aabbccddeeff")
COMMITMENT = "2d6523fbbab0816dc89486bdd64941d791b6d2fea6b5fcc67e6b4bb647f4f6f5"
VECTORS = {
    "nothing added": Vector(
        str(MATCH),
        2,
        SEED,
        ("", "", ""),
        COMMITMENT,
        "b8620323ae9fa493a77826d13721b56d5f7b74252f554cdb5c4708f7518a16fc",
        "DJ D2 H3 C2 S2 H8 DQ HA D9 C9 S3 SK D3 HQ CT C6 DT DA H9 S7 HJ CQ C8 H7 C5 S6 "
        "H4 ST H5 C4 HK SQ S9 D6 HT D5 S5 H2 CK C7 DK S8 H6 SA S4 SJ CJ D8 C3 D7 D4 CA",
    ),
    "some added": Vector(
        str(MATCH),
        4,
        SEED,
        SOME,
        COMMITMENT,
        "3f6106f8bb29edf74d4f5f24e4651400c4b6dd01e559dbf98488f675b893607c",
        "DA SJ D8 HK SK H4 H8 C4 C9 D9 H9 D7 HJ S3 HT H2 C5 DQ S6 ST D4 H7 SQ D5 S9 S2 "
        "S7 C7 CT S8 D6 HA D2 C3 CA C6 S4 C8 DK CQ HQ H6 H3 S5 D3 DJ H5 DT C2 CJ CK SA",
    ),
    "three bytes that are just too many": Vector(
        str(MATCH),
        115,
        SEED,
        SOME,
        COMMITMENT,
        "ffb15fc38aad81626bdc530a472bcd83a083017029b008f018312ae55e6d6a7f",
        "HJ C9 DT HA HQ S3 S4 D5 H7 C5 CK DJ C8 H2 D2 C7 S5 S7 CJ H3 ST S6 D8 H5 D4 S9 "
        "HK SA H6 S2 SK H8 H4 HT DA DQ C2 D6 SJ C6 D3 CT S8 C3 C4 SQ D9 CA CQ H9 DK D7",
    ),
    "eight seats": Vector(
        "00000000-0000-4000-8000-000000000001",
        100_999,
        "0f5a3ef5cd9629686455e0af9fddc30da4388a5d1e17316393091da3f7fac9cf",
        tuple(hashed(f"seat {seat}") for seat in range(8)),
        "b71ab9cc116cf2d6e274865df70fc7d7afcab2a173714c8ee5e9898c71d857ce",
        "b0819b7c2849fde779dee18c48ea35441d547a1eaf5f9482cbc66051918c104a",
        "C7 H9 S2 HQ D7 CJ H7 SA H8 C8 DT C6 SQ S6 HJ HA C4 CA DQ C2 H5 H6 SJ ST CK H2 "
        "DJ D8 H3 CQ DK D5 CT D2 SK D6 HK D9 HT C5 D4 C3 S8 DA S4 C9 S3 S7 S9 D3 S5 H4",
    ),
}


class TestComputation:
    @pytest.mark.parametrize("name", VECTORS)
    def test_key_and_order(self, name: str) -> None:
        given = VECTORS[name]
        assert hashed(given.seed) == given.commitment
        moment = Moment(given.n, NOON, "another", match=UUID(given.match))
        made = Commitment(seed=given.seed, hash=given.commitment, until=None, entropy=given.entropy)
        assert shuffle_key(moment, made) == given.key
        assert " ".join(shuffled(f"2:{given.n}:{given.key}")) == given.order

    def test_a_smaller_pack_leaves_out_what_it_has_not(self) -> None:
        given = VECTORS["some added"]
        small = cards_of(card for card in PACK if card[1] > "6")
        order = shuffled(f"2:{given.n}:{given.key}", small)
        assert order == tuple(card for card in given.order.split() if card[1] > "6")
        assert len(order) == 32

    def test_every_card_comes_everywhere(self) -> None:
        """Each card has each place about 100 times in 5,200 shuffles; none of the 2,704 counts is far from that."""
        counts = Counter(
            (place, card)
            for number in range(5200)
            for place, card in enumerate(shuffled(f"2:{number}:{hashed(str(number))}"))
        )
        assert len(counts) == 52 * 52
        assert sum((count - 100) ** 2 / 100 for count in counts.values()) == pytest.approx(51 * 51, rel=0.1)

    def test_seeds_of_the_house_s_own_give_what_they_gave(self) -> None:
        assert " ".join(shuffled("seed 1")[:6]) == "H4 HT CQ D4 S5 DJ"


def digits(seat: int) -> Entropy:
    return Entropy(seat=seat, hex=DIGITS)


class TestTheCommitment:
    @pytest.mark.parametrize("ruleset", RULESETS)
    def test_comes_first_of_all(self, ruleset: str) -> None:
        played = Played(ruleset=ruleset, players=4, first_dealer=None)
        assert played.kinds()[:2] == ["match/opened", "shuffle/committed"]
        assert played.kinds().count("shuffle/committed") == 1
        made: Any = played.history[1].event
        assert re.fullmatch("[0-9a-f]{64}", made.seed)
        assert made.commitment == hashed(made.seed)
        assert made.until is None

    def test_is_of_a_seed_from_outside_each_time(self) -> None:
        """The next seed is never derived from published values: a client with the last seed learns nothing about
        it."""
        played, chance = Played(ruleset=KALABRIAS, players=2), Random(4)
        while played.some(chance):
            pass
        made = [(one.originator_version, one.event) for one in played.history]
        commitments = [(number, event) for number, event in made if isinstance(event, ShuffleCommitted)]
        assert len(commitments) > 3
        before = 1
        for number, event in commitments:
            acts = [n for n, _ in made if n < number and played.history[n - 1].at < played.history[number - 1].at]
            before = max(acts, default=1)
            assert event.seed == hashed(f"outside {before}")

    def test_comes_again_after_a_void(self) -> None:
        played = Played(ruleset=KALABRIAS, players=2)
        played.do(digits(1))
        played.do(Deal(seat=0))
        first: Any = played.history[1].event
        voided, again = played.do(Void())
        assert isinstance(voided, DealVoided)
        assert isinstance(again, ShuffleCommitted)
        assert again.seed != first.seed
        shuffle_now = shuffling_seen(played.match)
        assert shuffle_now is not None
        assert (shuffle_now.commitment, shuffle_now.entropy, shuffle_now.awaited) == (
            again.commitment,
            (None, None),
            (0, 1),
        )

    def test_is_not_made_for_a_deal_that_never_comes(self) -> None:
        played = Played(ruleset=KALABRIAS, players=2)
        assert [event.TOPIC for event in played.do(Abandon())] == ["match/abandoned"]
        assert shuffling_seen(played.match) is None

    def test_none_is_made_if_nothing_was_asked_for(self) -> None:
        played = Played(ruleset=KALABRIAS, players=2, shuffle=None)
        played.do(Deal(seat=0))
        assert played.kinds() == ["match/opened", "deal/dealt"]
        dealt: Any = played.history[1].event
        assert dealt.seed == "outside 1"

    def test_no_viewer_sees_the_seed_until_the_deal_is_over(self) -> None:
        made = ShuffleCommitted(commitment=COMMITMENT, seed=SEED)
        for viewer in (0, 1, "spectator", "official"):
            assert as_seen_by(made, viewer, public=False) == ShuffleCommitted(commitment=COMMITMENT, seed="")
            assert as_seen_by(made, viewer, public=True) is made


class TestAddedEntropy:
    def test_is_on_record_and_goes_into_the_key(self) -> None:
        played = Played(ruleset=KALABRIAS, players=3)
        assert played.do(digits(2)) == (EntropyGiven(seat=2, hex=DIGITS),)
        (dealt,) = played.do(Deal(seat=0))
        made: Any = played.history[1].event
        key = hashed(f"knacka shuffle 2\n{MATCH}\n3\n{made.seed}\n\n\n{DIGITS}")
        assert isinstance(dealt, Dealt)
        assert dealt.seed == f"2:3:{key}"

    @pytest.mark.rule("J13")
    def test_is_seen_by_all_at_once(self) -> None:
        """The server has committed to its part before, and does not show it."""
        played = Played(ruleset=KALABRIAS, players=2)
        assert played.kinds() == ["match/opened", "shuffle/committed"]
        (added,) = played.do(digits(1))
        committed = played.history[1].event
        assert isinstance(committed, ShuffleCommitted)
        for viewer in (0, 1, "spectator", "official"):
            assert as_seen_by(added, viewer, public=False) == EntropyGiven(seat=1, hex=DIGITS)
            assert as_seen_by(committed, viewer, public=False) == replace(committed, seed="")
        shuffle_now = shuffling_seen(played.match)
        assert shuffle_now is not None
        assert shuffle_now.entropy == (None, DIGITS)

    @pytest.mark.rule("J13")
    def test_once(self) -> None:
        played = Played(ruleset=KALABRIAS, players=2)
        played.do(digits(0))
        assert played.refused(Entropy(seat=0, hex="0" * 64)) == ("state", "entropy_given", {})
        played.do(digits(1))

    def test_before_the_deal(self) -> None:
        played = Played(ruleset=KALABRIAS, players=2)
        played.do(Deal(seat=0))
        assert played.refused(digits(0)) == ("state", "entropy_too_late", {})

    def test_again_before_the_next(self) -> None:
        played = Played(ruleset=KALABRIAS, players=2)
        played.do(digits(0))
        played.do(Deal(seat=0))
        played.do(Void())
        played.do(digits(0))

    def test_only_if_there_is_a_seat(self) -> None:
        played = Played(ruleset=KALABRIAS, players=2)
        assert played.refused(digits(2)) == ("rule", "no_such_seat", {"seat": 2})

    def test_not_when_the_match_is_over(self) -> None:
        played = Played(ruleset=KALABRIAS, players=2)
        played.do(Abandon())
        assert played.refused(digits(0))[:2] == ("state", "match_over")

    @pytest.mark.parametrize("adjudication", [True, False])
    def test_only_if_the_house_commits(self, adjudication: bool) -> None:
        attended = Adjudication(officials=("Maja",)) if adjudication else None
        played = Played(ruleset=KALABRIAS, players=2, shuffle=None, adjudication=attended)
        assert played.refused(digits(0)) == ("state", "no_entropy", {})
        assert played.refused(digits(2))[1] == "no_such_seat"

    def test_nothing_of_what_is_refused_stays(self) -> None:
        played = Played(ruleset=KALABRIAS, players=2)
        before = played.match.state
        played.refused(digits(5))
        assert played.match.state == before
        assert len(played.history) == 2


class TestTheDeal:
    def test_waits_for_all_to_the_microsecond(self) -> None:
        played = Played(ruleset=KALABRIAS, players=3, entropy_seconds=60)
        until = NOON + timedelta(seconds=60)
        played.do(digits(1))
        facts = {"awaited": (0, 2), "until": until}
        for at in (NOON, until - timedelta(microseconds=1)):
            played.at = at
            assert played.refused(Deal(seat=0)) == ("state", "entropy_awaited", facts)
        played.at = until
        played.do(Deal(seat=0))

    def test_goes_at_once_when_all_have_added(self) -> None:
        played = Played(ruleset=KALABRIAS, players=2, entropy_seconds=60)
        played.do(digits(1))
        played.refused(Deal(seat=0))
        played.do(digits(0))
        played.do(Deal(seat=0))

    def test_waits_for_no_seat_without_a_time_limit(self) -> None:
        played = Played(ruleset=KALABRIAS, players=2, entropy_seconds=0)
        played.do(Deal(seat=0))

    def test_is_refused_to_others_by_the_game_itself(self) -> None:
        played = Played(ruleset=KALABRIAS, players=2, entropy_seconds=60)
        assert played.refused(Deal(seat=1))[1] == "not_dealer"
        assert played.refused(Deal(seat=2))[1] == "no_such_seat"

    def test_can_be_voided_only_when_it_is_there(self) -> None:
        played = Played(ruleset=KALABRIAS, players=2, entropy_seconds=60)
        assert played.refused(Void())[1] == "nothing_dealt"


def order_by(played: Played, number: int, small: bool = False) -> tuple[str, ...]:
    """Return the order by which the house shuffled or drew in event ``number``, computed from the events alone."""
    history = played.history[:number]
    last = history[-1]
    at = max(place for place, one in enumerate(history) if isinstance(one.event, ShuffleCommitted))
    made: Any = history[at].event
    n = max((one.originator_version for one in history if (one.at, one.actor) != (last.at, last.actor)), default=0)
    added = {one.event.seat: one.event.hex for one in history[at:] if isinstance(one.event, EntropyGiven)}
    entropy = (added.get(seat, "") for seat in range(len(played.opening.players)))
    key = hashed("\n".join(("knacka shuffle 2", str(MATCH), str(n), made.seed, *entropy)))
    return tuple(card for card in shuffled(f"2:{n}:{key}") if not small or card[1] > "6")


class TestOtherChance:
    """All other lots of the house depend on the committed seed."""

    @pytest.mark.parametrize("ruleset", [key for key in RULESETS if key != ALGA])
    def test_the_draw_for_the_first_deal(self, ruleset: str) -> None:
        played = Played(ruleset=ruleset, players=3, first_dealer=None)
        drawn = [one.event.card for one in played.history if isinstance(one.event, CardDrawn)]
        number = next(one.originator_version for one in played.history if isinstance(one.event, FirstDealerDrawn))
        assert drawn
        assert tuple(drawn) == order_by(played, number, ruleset in (KALABRIAS, "rams-english"))[: len(drawn)]

    def test_the_draw_for_the_lead_in_a_duel(self) -> None:
        """The draw uses the seed of the deal before, which was secret; only the two who draw add to the next seed."""
        found = 0
        for number in (10, 33, 37):  # a lead is drawn in few of them
            chance = Random(f"lead {number}")
            played = Played(f"lead {number}", ruleset=CATS, players=4, points=(1, 1, 1, 12), enforcement="refuse")
            while made := played.some(chance):
                drawn = [event.card for event in made if isinstance(event, CardDrawn)]
                if not drawn:
                    continue
                assert [type(event) for event in made[-2:]] == [LeadDrawn, ShuffleCommitted]
                assert tuple(drawn) == order_by(played, len(played.history) - 1)[: len(drawn)]
                shuffle_now, duel = shuffling_seen(played.match), played.match.play.table.playing
                assert shuffle_now is not None
                assert shuffle_now.awaited == duel
                for beside in {*range(4)} - {*duel}:
                    assert played.refused(digits(beside))[1] in ("not_in_duel", "eliminated")
                found += 1
            assert set(checked(MATCH, played.lines()).values()) == {FAIR}
        assert found > 2, "hardly a lead was drawn"

    def test_a_stock_that_was_shuffled_again(self) -> None:
        chance = Random(5)
        played = Played("stock", ruleset=ALGA, players=8, points=(2,) * 8, enforcement="refuse")
        while played.kinds().count("deal/scored") < 4 and played.some(chance):
            pass
        seeded = [one for one in played.history if isinstance(one.event, NewHands) and one.event.seed is not None]
        assert seeded, "a stock has run out"
        for one in seeded:
            event: Any = one.event
            came = [card for seat in event.seats for card in event.hands[seat][:3]]
            came += [card for seat in event.seats for card in event.hands[seat][3:]]
            assert event.seed.startswith("2:")
            new = [*came, *event.stock][4:]  # four of the 52 cards were left
            order = order_by(played, one.originator_version)
            assert new == [card for card in order if card in new]
        assert set(checked(MATCH, played.lines()).values()) == {FAIR}


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
def test_whole_matches_can_be_checked(ruleset: str, enforcement: str) -> None:
    """Each deal has its own commitment, made before it and after the end of the last deal."""
    chance = Random(f"{ruleset} {enforcement}")
    few = {} if ruleset in (KALABRIAS, "rams-english") else {"points": (4, 4, 4)}
    played = Played(f"{ruleset}", ruleset=ruleset, players=3, first_dealer=None, enforcement=enforcement, **few)
    while played.kinds().count("deal/scored") < 5 and played.some(chance):
        if played.kinds()[-1] == "deal/dealt" and chance.random() < 0.2:
            played.do(Void())
    open_now, deals = 0, set()
    for one in played.history:
        match one.event:
            case ShuffleCommitted():
                open_now += 1
                assert open_now == 1
            case Dealt(seed=seed, deal=deal):
                assert open_now == 1
                assert seed is not None
                assert re.fullmatch(r"2:\d+:[0-9a-f]{64}", seed)
                deals.add(deal)
            case DealScored() | DealVoided():
                open_now = 0
    over = isinstance(played.history[-1].event, MatchWon)
    assert open_now == (0 if over else 1)
    assert checked(MATCH, played.lines()) == dict.fromkeys(sorted(deals), FAIR)


def test_a_snapshot_keeps_what_was_committed_to(store_url: str) -> None:
    with construct(store_url) as referee, closing(Desk(referee)) as desk:
        match_id = opened(desk, ruleset="rams-english", players=4, shuffle="committed")
        for _ in play_out(desk, match_id, 40):
            pass
        kept = desk.get(match_id)
        referee.take_snapshots([referee.load(match_id)])
        loaded = referee.load(match_id)
    assert isinstance(loaded.aggregate, Match)
    assert loaded.kept == kept.version, "the snapshot is used as it is"
    assert loaded.aggregate == kept
    assert shuffling_seen(loaded.aggregate) is not None
