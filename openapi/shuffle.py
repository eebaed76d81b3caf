"""Was each deal of a match dealt from the shuffle that the server had committed to?

python shuffle.py MATCH [DEAL ...] [--kept FILE] < EVENTS

MATCH is the id of the match. EVENTS are all its events from the first on, as JSON, a page or an event on each line.
FILE holds events of the same match that you kept when they came: what they say must still stand in EVENTS. Without
it a server could have replaced the commitment, or what a seat added, after the fact. Keep them.

Prints a verdict for each deal, or for each DEAL. Exits with 0 if the record is whole and the deals are fair, else
with 1. It needs Python 3.11 and nothing else. How a shuffle is computed: guides/shuffle.md.

Of the events in FIELDS it reads everything; of all others only the number, the time and who acted.
"""

import argparse
import json
import re
import sys
from datetime import datetime, timedelta
from hashlib import sha256

ENVELOPE = "number at actor act topic event"
FOR_OFFICIALS = "digest prev hash request"
FIELDS = {  # by topic: the fields that an event must have, and those that it may have
    "match/opened": (
        "ruleset edition options players dealing enforcement points tokens official",
        "pot taken_over first_dealer stakes adjudication officials shuffle entropy_seconds club evening table members"
        " visibility stakes_need stake_limit",
    ),
    "shuffle/committed": ("commitment seed", "until"),
    "shuffle/entropy-given": ("seat hex", ""),
    "dealer/card-drawn": ("seat card", ""),
    "dealer/drawn": ("seat rule", ""),
    "pot/staked": ("seat amount pot double", ""),
    "deal/dealt": ("deal dealer counts", "hands each stock widow turn_up seed face_up breaches"),
    "deal/picked-up": ("seat", "hand breaches"),
    "deal/hand-requested": ("seat", "cards"),
    "deal/new-hands": ("seats", "hands stock last seed"),
    "deal/card-given": ("seat", "card"),
    "deal/cards-thrown": ("seat count", "cards"),
    "trumps/made": ("seat trumps rule", ""),
    "deal/later-cards-dealt": ("counts", "hands turn_up_to"),
    "deal/scored": (
        "deal dealer kind declarer contract tricks answers penalties before points entries",
        "eliminated pot_before pot pot_entries halves detail",
    ),
    "deal/voided": ("deal", "reason before points entries"),
    "player/eliminated": ("seat rule", ""),
    "duel/called": ("seats dealer rule", ""),
    "protocol/corrected": (
        "case deal why lines struck points eliminated dealer next_deal",
        "halves pot duel carried fresh won replaces scripts strike",
    ),
    "act/taken-back": ("case first last", "seat"),
    "match/abandoned": ("deal", "reason rule pot_before shares pot before points settlement"),
    "match/closed": ("rule pot_before shares pot before points", "settlement"),
    "match/won": ("seat by rule points", "settlement halves seats payments"),
}
UNFINISHED = "its end is not on record"

ALGA, CATSATCARDS = "rodskagg-alga", "rodskagg-catsatcards"
KALABRIAS, RAMS = "kalabrias", "rams-english"
GAMES = (ALGA, CATSATCARDS, "rodskagg-kortoxen", KALABRIAS, RAMS)
RANKS = "23456789TJQKA"


class NotFair(Exception):
    """Something that makes one deal not fair."""


class Broken(Exception):
    """A record that shows nothing from this event on."""


def digest(text):
    """Return the SHA-256 of a text in hexadecimal."""
    return sha256(text.encode()).hexdigest()


def order_by(key, game):
    """Return the cards of a game's pack in the order that a key gives."""
    cards = [suit + rank for suit in "SHDC" for rank in RANKS]
    stream = (byte for block in range(99) for byte in sha256(f"{key}\n{block}".encode()).digest())
    for left in range(52, 1, -1):
        place = next(byte for byte in stream if byte < 256 - 256 % left) % left
        cards[left - 1], cards[place] = cards[place], cards[left - 1]
    return [card for card in cards if game not in (KALABRIAS, RAMS) or card[1] > "6"]


def packets(cards, many, sizes):
    """Return what each of so many places gets when cards are dealt in packets of these sizes."""
    hands, at = [[] for _ in range(many)], 0
    for size in sizes:
        for hand in hands:
            hand += cards[at : at + size]
            at += size
    return hands


def filled(event):
    """Return the fields of an event that are not empty, but for the offences in it, which are no cards."""
    return {name: value for name, value in event.items() if name != "breaches" and (value or type(value) is int)}


def expect(event, message, **fields):
    """Raise NotFair unless an event says exactly this."""
    if filled(event) != filled(fields):
        raise NotFair(message)


def still_stands(kept, now):
    """Return whether what was shown before is still so. What was hidden then was empty."""
    if isinstance(kept, dict) and isinstance(now, dict):
        return all(still_stands(value, now.get(name)) for name, value in kept.items() if name != "breaches")
    if isinstance(kept, list) and isinstance(now, list):
        return not kept or (len(kept) == len(now) and all(map(still_stands, kept, now)))
    return kept in (None, "") or (type(kept), kept) == (type(now), now)


class Match:
    """What the events of a match have shown so far."""

    def __init__(self, match, kept):
        self.match, self.kept, self.number = match, kept, 0
        self.faults = {}  # by deal: why it is not fair; None: it is fair
        self.about = 1  # the deal to which a fault belongs
        self.deal, self.dealer, self.duel = 1, None, []  # who deals next, and which seats, if not all who are left
        self.out, self.announced = set(), set()
        self.lines = {}  # by deal: who dealt it, and of what kind it was
        self.commitment, self.until, self.added, self.drawn = None, None, {}, []
        self.dealt, self.pack, self.hands, self.thrown, self.asked = None, [], {}, [], []
        self.stake = self.declarer = None

    def take(self, line):
        """Take the next event. Raises Broken."""
        try:
            self.check_envelope(line)
            if line["topic"] in FIELDS:
                take = getattr(self, "on_" + re.sub("[/-]", "_", line["topic"]))
                take(line["event"], line["actor"], line["at"])
        except NotFair as fault:
            if self.faults.get(self.about) in (None, UNFINISHED):
                self.faults[self.about] = str(fault)
        except (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, ValueError) as error:
            raise Broken(f"event {self.number} cannot be read: {error!r}") from error

    def check_envelope(self, line):
        """Raise Broken unless an event follows on the one before it, has its fields, and is as it was kept."""
        needed, allowed = set(ENVELOPE.split()), set(FOR_OFFICIALS.split())
        if not needed <= line.keys() <= needed | allowed or type(line["number"]) is not int:
            raise Broken(f"what follows on event {self.number} is no event")
        if line["number"] != self.number + 1:
            raise Broken(f"event {line['number']} follows on event {self.number}")
        self.number, topic = line["number"], line["topic"]
        if (self.number == 1) != (topic == "match/opened"):
            raise Broken("a record begins with match/opened, and has it once")
        needed, allowed = (set(names.split()) for names in FIELDS.get(topic, (" ".join(line["event"]), "")))
        if not needed <= line["event"].keys() <= needed | allowed:
            raise Broken(f"event {self.number} ({topic}) has other fields")
        kept = self.kept.pop(self.number, {})
        if not all(still_stands(kept[name], line[name]) for name in kept.keys() & {"at", "actor", "topic", "event"}):
            raise Broken(f"event {self.number} is not as you kept it")

    def playing(self):
        """Return the seats that take part in the deal."""
        return self.duel or [seat for seat in range(self.seats) if seat not in self.out]

    def from_left_of(self, seat):
        """Return all seats clockwise, beginning on the left of this one."""
        return [(seat + step) % self.seats for step in range(1, self.seats + 1)]

    def order(self, number):
        """Return the seed and the cards in order, of an act before which event ``number`` was the last."""
        if not self.commitment:
            raise NotFair("the server has not committed to it")
        seed = self.commitment["seed"]
        if not seed:
            raise NotFair("its seed is not shown yet")
        if digest(seed) != self.commitment["commitment"]:
            raise NotFair("the seed is not the one committed to")
        added = [self.added.get(seat, "") for seat in range(self.seats)]
        key = digest("\n".join(["knacka shuffle 2", self.match, str(number), seed, *added]))
        return f"2:{number}:{key}", order_by(key, self.game)

    # Before a deal

    def on_match_opened(self, event, actor, at):
        self.game, self.options, self.seats = event["ruleset"], event["options"], len(event["players"])
        self.seconds, self.first = event.get("entropy_seconds", 0), event.get("first_dealer")
        if self.game not in GAMES or event.get("shuffle") != "committed" or event["dealing"] != "house":
            raise Broken("in this match the server does not commit to a shuffle")
        if self.first is None and self.game == ALGA:
            self.first = 0
        self.dealer = self.first

    def on_shuffle_committed(self, event, actor, at):
        again, self.commitment, self.added, self.about = self.commitment, event, {}, self.deal
        self.until = datetime.fromisoformat(event["until"]) if event.get("until") else None
        if again:
            raise NotFair("the server committed twice")
        if self.until != (datetime.fromisoformat(at) + timedelta(seconds=self.seconds) if self.seconds else None):
            raise NotFair("it waits for the seats until another time than the match says")

    def on_shuffle_entropy_given(self, event, actor, at):
        seat = event["seat"]
        if type(actor) is not int or type(seat) is not int or actor != seat:
            raise NotFair(f"event {self.number} in the name of seat {seat} is not from that seat")
        if not self.commitment or self.dealt is not None or seat not in self.playing():
            raise NotFair(f"event {self.number}: seat {seat} could not add anything")
        if seat in self.added:
            raise NotFair(f"event {self.number}: seat {seat} adds a second time")
        if not re.fullmatch("[0-9a-f]{32,64}", event["hex"]):
            raise NotFair(f"event {self.number}: those are not 32 to 64 hexadecimal digits")
        self.added[seat] = event["hex"]

    def on_dealer_card_drawn(self, event, actor, at):
        self.drawn.append((event["seat"], event["card"]))

    def on_dealer_drawn(self, event, actor, at):
        wanted, self.first = self.first is None, event["seat"]
        self.dealer = self.first
        expected, dealer = self.draw(self.order(0)[1])
        if not wanted or self.drawn != expected or event["seat"] != dealer:
            raise NotFair("another seat was to be drawn as the dealer")

    def draw(self, cards):
        """Return who draws which card for the first deal, and who deals: B14-B15, C7-C8, D11-D13, E-O29."""
        if self.game == RAMS:
            many = next(place for place, card in enumerate(cards, 1) if card[1] == "J")
            return [(place % self.seats, card) for place, card in enumerate(cards[:many])], (many - 1) % self.seats
        best, drawn, left = min if self.game == KALABRIAS else max, [], list(range(self.seats))
        while len(left) > 1:
            now = list(zip(left, cards, strict=False))
            cards, drawn = cards[len(now) :], drawn + now
            wins = best(RANKS.index(card[1]) for _, card in now)
            left = [seat for seat, card in now if RANKS.index(card[1]) == wins]
        return drawn, left[0]

    # The cards of a deal

    def on_pot_staked(self, event, actor, at):
        self.stake = self.number, event["seat"], actor, at

    def on_deal_dealt(self, event, actor, at):
        self.about = self.dealt = event["deal"]
        self.pack, self.hands, self.thrown, self.asked = [], {}, [], []
        if self.faults.get(self.about) is None:
            self.faults[self.about] = UNFINISHED
        if event["deal"] != self.deal or self.announced != self.out:
            raise NotFair("another deal was to come")
        if event["dealer"] != self.dealer or actor != self.dealer or type(actor) is not int:
            raise NotFair("another seat was to deal")
        if self.game == RAMS and self.stake != (self.number - 1, self.dealer, actor, at):
            raise NotFair("the dealer has not staked")
        seed, cards = self.order(self.number - (2 if self.game == RAMS else 1))  # D14: the stake is of the same act
        waiting = [seat for seat in self.playing() if seat not in self.added]
        if self.until and waiting and datetime.fromisoformat(at) < self.until:
            raise NotFair(f"it did not wait for the seats {waiting}")
        self.lay_out(event, seed, cards)

    def lay_out(self, event, seed, cards):
        """Compare a deal with the cards in order: A9-A10, B18-B19, C12, D17-D20, E-O4."""
        order, sizes = [seat for seat in self.from_left_of(self.dealer) if seat in self.playing()], (3, 3)
        if self.game == RAMS:  # with six the dealer gets no cards; else the widow comes before the dealer
            order, sizes = [*order[:-1], "widow", *order[-1:][: self.seats < 6]], (3, 2)
        given = dict(zip(order, packets(cards, len(order), sizes), strict=True))
        self.pack, fields = cards[sum(sizes) * len(order) :], {}
        if self.game in (RAMS, KALABRIAS):
            fields["turn_up"], self.pack = self.pack[0], self.pack[1:]
        keeps = self.options.get("honour_redeal") and not (self.game == CATSATCARDS and self.duel)
        if self.game == KALABRIAS or keeps:
            fields["stock"] = self.pack
        fields["widow"] = given.pop("widow", None)
        hands = [given.get(seat, []) for seat in range(self.seats)]
        fields |= {"deal": self.deal, "dealer": self.dealer, "counts": [len(hand) for hand in hands], "hands": hands}
        expect(event, "other cards come of the shuffle", seed=seed, face_up=event.get("face_up") is True, **fields)
        self.hands = given

    def hand(self, seat):
        """Return the cards that a seat holds before the play."""
        if seat not in self.hands:
            raise NotFair(f"event {self.number}: seat {seat} has no cards")
        return self.hands[seat]

    def on_deal_picked_up(self, event, actor, at):
        if event.get("hand") and sorted(event["hand"]) != sorted(self.hand(event["seat"])):
            raise NotFair(f"event {self.number}: seat {event['seat']} picks up other cards")

    def on_deal_hand_requested(self, event, actor, at):
        self.asked.append((self.number, event["seat"]))

    def on_act_taken_back(self, event, actor, at):
        self.asked = [one for one in self.asked if not event["first"] <= one[0] <= event["last"]]

    def on_deal_new_hands(self, event, actor, at):
        """A13-A15: packets of three to those who asked; into a stock that runs out goes what was thrown in."""
        seats, cards, fields = [seat for _, seat in self.asked], self.pack, {}
        self.thrown, self.asked = [*self.thrown, *(card for seat in seats for card in self.hand(seat))], []
        if len(cards) < 6 * len(seats):
            fields["seed"], new = self.order(self.number - 2)  # after the seat that spoke last
            fields["last"], cards = True, cards + [card for card in new if card in self.thrown]
        given = dict(zip(seats, packets(cards, len(seats), (3, 3)), strict=True))
        self.pack, self.hands = cards[6 * len(seats) :], self.hands | given
        hands = [given.get(seat, []) for seat in range(self.seats)]
        expect(event, "other new hands come of the shuffle", seats=seats, hands=hands, stock=self.pack, **fields)

    def on_deal_card_given(self, event, actor, at):
        """C13-C14: the next card of the stock, to a hand without a card above ten."""
        seat, next_card, self.pack = event["seat"], self.pack[:1], self.pack[1:]
        if not next_card or any(card[1] in "JQKA" for card in self.hand(seat)):
            raise NotFair(f"event {self.number}: seat {seat} gets no card")
        self.hands[seat] = self.hand(seat) + next_card
        expect(event, "another card comes of the shuffle", seat=seat, card=next_card[0])

    def on_deal_cards_thrown(self, event, actor, at):
        hand, away = self.hand(event["seat"]), event.get("cards", [])
        if not set(away) <= set(hand) or len(away) != event["count"]:
            raise NotFair(f"event {self.number}: seat {event['seat']} throws away other cards")
        self.hands[event["seat"]] = [card for card in hand if card not in away]

    def on_trumps_made(self, event, actor, at):
        self.declarer = event["seat"]

    def on_deal_later_cards_dealt(self, event, actor, at):
        """E14, E50-E51: three each; of four players two each, and the declarer one beside the turned-up card."""
        taker = self.declarer if self.seats == 4 else None
        counts = [3 if self.seats < 4 else 1 if seat == taker else 2 for seat in range(self.seats)]
        hands = [[] for _ in range(self.seats)]
        for seat in self.from_left_of(self.dealer):
            hands[seat], self.pack = self.pack[: counts[seat]], self.pack[counts[seat] :]
        expect(event, "other later cards come of the shuffle", counts=counts, hands=hands, turn_up_to=taker)

    # After a deal

    def end(self, deal=None):
        """Close the deal under way; it is fair if nothing was wrong with it. Return whether it is this one."""
        dealt, self.dealt, self.commitment, self.hands = self.dealt, None, None, {}
        if dealt is not None and self.faults[dealt] == UNFINISHED:
            self.faults[dealt] = None
        return dealt == deal == self.deal

    def on_match_won(self, event, actor, at):
        self.end()

    on_match_abandoned = on_match_closed = on_match_won

    def on_deal_voided(self, event, actor, at):
        if not self.end(event["deal"]):
            raise NotFair("a deal ends that was not dealt")

    def on_deal_scored(self, event, actor, at):
        """The deal moves on: A8, B13, C9, D14, E-O29."""
        is_this, dealer, out = self.end(event["deal"]), self.dealer, {*event.get("eliminated", [])}
        self.lines[event["deal"]] = event["dealer"], event["kind"]
        as_it_was, self.out, self.duel, self.deal = self.out, self.out | out, [], event["deal"] + 1
        self.dealer = self.next_dealer(event["dealer"], event["kind"])
        if not is_this or event["dealer"] != dealer:
            raise NotFair("a deal ends that was not dealt")
        if not as_it_was <= out <= set(range(self.seats)):
            raise NotFair("a seat that was out comes back")

    def next_dealer(self, dealer, kind):
        """Return who deals after a deal; E-O6: after one that all gave up it may be the same seat."""
        if self.game == KALABRIAS and kind == "redeal" and self.options.get("redeal_dealer") == "same":
            return dealer
        return next((seat for seat in self.from_left_of(dealer) if seat not in self.out), dealer)

    def on_player_eliminated(self, event, actor, at):
        self.announced.add(event["seat"])

    def on_duel_called(self, event, actor, at):
        """A56, C46: the first of them on the last dealer's left deals, or the deal moves on as usual."""
        self.about, seats, may = self.deal, event["seats"], self.playing()
        if self.game == ALGA:
            self.dealer = next(seat for seat in self.from_left_of(self.lines[self.deal - 1][0]) if seat in seats)
        self.duel = seats
        if event["dealer"] != self.dealer or len(set(seats)) < 2 or not set(seats) <= set(may):
            raise NotFair("the duel is another one")

    def on_protocol_corrected(self, event, actor, at):
        """J9: the deal moves on from the last one that counts."""
        self.out, self.announced, self.duel = {*event["eliminated"]}, {*event["eliminated"]}, event.get("duel", [])
        self.about = self.deal = event["next_deal"]
        counted = [self.lines[deal] for deal in sorted(self.lines) if deal not in event["struck"]]
        expected = self.next_dealer(*counted[-1]) if counted else self.first
        if self.duel and self.game == ALGA:
            expected = next(seat for seat in self.from_left_of(counted[-1][0]) if seat in self.duel)
        self.dealer = event["dealer"]
        if not event.get("won") and event["dealer"] != expected:
            raise NotFair(f"after event {self.number} another seat was to deal")


def events_in(lines):
    """Yield the events of pages and of single lines."""
    for page in map(json.loads, lines):
        yield from page.get("events", [page])


def checked(match, lines):
    """Return why the record is broken, or None. What follows on a break is not fair."""
    broken = None
    for line in events_in(lines):
        try:
            if not broken:
                match.take(line)
        except Broken as fault:
            broken = str(fault)
        if broken and isinstance(deal := line["event"].get("deal"), int):
            match.faults[deal] = "the record is broken before its end"
    if match.kept and not broken:
        broken = f"event {min(match.kept)}, which you kept, is missing"
    return broken


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("match")
    parser.add_argument("deals", nargs="*", type=int)
    parser.add_argument("--kept")
    asked = parser.parse_args()
    kept = {}
    if asked.kept:
        with open(asked.kept, encoding="utf-8") as file:
            kept = {event["number"]: event for event in events_in(file)}
    match, compared = Match(asked.match, kept), len(kept)
    broken = checked(match, sys.stdin)
    deals = asked.deals or sorted(match.faults)
    faults = [match.faults.get(deal, "it is not on record") for deal in deals]
    for deal, fault in zip(deals, faults, strict=True):
        print(f"deal {deal}: " + (f"not shown fair: {fault}" if fault else "fair"))
    print(f"events compared with those that you kept: {compared}")
    if broken:
        print(f"the record is broken: {broken}")
    return 1 if broken or not deals or any(faults) else 0


if __name__ == "__main__":
    sys.exit(main())
