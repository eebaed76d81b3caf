"""Verify that each deal of a match has the cards of the shuffle to which the server committed.

python shuffle.py MATCH [DEAL ...] [--kept FILE] < EVENTS

MATCH is the id of the match. EVENTS are all its events from the first on, as JSON, one page or event on each line.
FILE has events that you kept when you received them. They show that the server did not replace the commitment, or
the digits that a seat added, after the deal.

Prints a verdict for each deal, or for each DEAL. Exits with 0 if the record is complete and these deals are fair,
else with 1. Needs only Python 3.11. guides/shuffle.md says how a shuffle is computed.
"""

import argparse
import json
import re
import sys
from datetime import datetime, timedelta
from hashlib import sha256

ENVELOPE = "number act_number at actor act event"
FOR_OFFICIALS = "digest prev hash request"
FIELDS = {  # required and optional fields by topic; of other topics only ENVELOPE is checked
    "match/opened": (
        "ruleset edition options players dealing enforcement points tokens official",
        "pot taken_over first_dealer stakes adjudication officials dockets shuffle entropy_seconds club evening table"
        " members visibility stakes_need given_by stake_limit",
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
UNFINISHED = "the record does not contain the end of the deal"

ALGA, CATSATCARDS = "rodskagg-alga", "rodskagg-catsatcards"
KALABRIAS, RAMS = "kalabrias", "rams-english"
GAMES = (ALGA, CATSATCARDS, "rodskagg-kortoxen", KALABRIAS, RAMS)
RANKS = "23456789TJQKA"


class NotFair(Exception):
    """A fault in one deal."""


class Broken(Exception):
    """A fault in the record: the deals from here on are not proved fair."""


def digest(text):
    return sha256(text.encode()).hexdigest()


def order_by(key, game):
    """Return a game's pack, shuffled by a key."""
    cards = [suit + rank for suit in "SHDC" for rank in RANKS]
    stream = (byte for block in range(99) for byte in sha256(f"{key}\n{block}".encode()).digest())
    for left in range(52, 1, -1):
        place = next(byte for byte in stream if byte < 256 - 256 % left) % left
        cards[left - 1], cards[place] = cards[place], cards[left - 1]
    return [card for card in cards if game not in (KALABRIAS, RAMS) or card[1] > "6"]


def packets(cards, count, sizes):
    """Return ``count`` hands, dealt in packets of these sizes."""
    hands, at = [[] for _ in range(count)], 0
    for size in sizes:
        for hand in hands:
            hand += cards[at : at + size]
            at += size
    return hands


def filled(event):
    """Return the fields of an event that are not empty, except its topic and breaches."""
    given = {name: value for name, value in event.items() if name not in ("topic", "breaches")}
    return {name: value for name, value in given.items() if value or type(value) is int}


def expect(event, message, **fields):
    """Raise NotFair unless the filled fields of an event are exactly these."""
    if filled(event) != filled(fields):
        raise NotFair(message)


def agrees(kept, now):
    """Return whether a kept value is unchanged. An empty kept value was hidden: it agrees with any value."""
    if isinstance(kept, dict) and isinstance(now, dict):
        return all(agrees(value, now.get(name)) for name, value in kept.items() if name != "breaches")
    if isinstance(kept, list) and isinstance(now, list):
        return not kept or (len(kept) == len(now) and all(map(agrees, kept, now)))
    return kept in (None, "") or (type(kept), kept) == (type(now), now)


class Match:
    """The state of a match. A method on_… applies an event, and raises NotFair if the event is wrong."""

    def __init__(self, match, kept):
        self.match, self.kept, self.number = match, kept, 0
        self.faults = {}  # by deal: its fault; None: the deal is fair
        self.about = 1  # the deal to which a fault is attributed
        self.deal, self.dealer, self.duel = 1, None, []  # the next deal, its dealer, and its seats if it is a duel
        self.out, self.announced = set(), set()
        self.lines = {}  # by deal: its dealer and its kind
        self.commitment, self.until, self.added, self.drawn = None, None, {}, []
        self.dealt, self.pack, self.hands, self.thrown, self.asked = None, [], {}, [], []
        self.stake = self.declarer = None

    def take(self, line):
        """Apply the next event, and note a fault of its deal. Raise Broken if the record is wrong."""
        try:
            self.check_envelope(line)
            if line["event"]["topic"] in FIELDS:
                take = getattr(self, "on_" + re.sub("[/-]", "_", line["event"]["topic"]))
                take(line["event"], line["actor"], line["at"])
        except NotFair as fault:
            if self.faults.get(self.about) in (None, UNFINISHED):
                self.faults[self.about] = str(fault)
        except (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, ValueError) as error:
            raise Broken(f"event {self.number} cannot be read: {error!r}") from error

    def check_envelope(self, line):
        """Raise Broken unless an event has the next number and the right fields, and agrees with the kept event."""
        needed, allowed = set(ENVELOPE.split()), set(FOR_OFFICIALS.split())
        if not needed <= line.keys() <= needed | allowed or type(line["number"]) is not int:
            raise Broken(f"the line after event {self.number} is not an event")
        if line["number"] != self.number + 1:
            raise Broken(f"event {line['number']} comes directly after event {self.number}")
        self.number, topic = line["number"], line["event"]["topic"]
        if (self.number == 1) != (topic == "match/opened"):
            raise Broken("match/opened must be the first event, and occur once")
        needed, allowed = (set(names.split()) for names in FIELDS.get(topic, (" ".join(line["event"]), "")))
        if not needed <= line["event"].keys() <= needed | allowed | {"topic"}:
            raise Broken(f"event {self.number} ({topic}) has missing or unknown fields")
        kept = self.kept.pop(self.number, {})
        if not all(agrees(kept[name], line[name]) for name in kept.keys() & {"at", "actor", "event"}):
            raise Broken(f"event {self.number} differs from the event that you kept")

    def playing(self):
        """Return the seats that take part in the next deal."""
        return self.duel or [seat for seat in range(self.seats) if seat not in self.out]

    def from_left_of(self, seat):
        """Return all seats clockwise from the left neighbour of this seat."""
        return [(seat + step) % self.seats for step in range(1, self.seats + 1)]

    def order(self, number):
        """Return the seed as events show it, and the shuffled cards, for the act after event ``number``.

        Raise NotFair unless the seed matches the commitment."""
        if not self.commitment:
            raise NotFair("the server has not committed to the shuffle")
        seed = self.commitment["seed"]
        if not seed:
            raise NotFair("the seed is not shown yet")
        if digest(seed) != self.commitment["commitment"]:
            raise NotFair("the seed does not match the commitment")
        added = [self.added.get(seat, "") for seat in range(self.seats)]
        key = digest("\n".join(["knacka shuffle 2", self.match, str(number), seed, *added]))
        return f"2:{number}:{key}", order_by(key, self.game)

    # Before a deal

    def on_match_opened(self, event, actor, at):
        self.game, self.options, self.seats = event["ruleset"], event["options"], len(event["players"])
        self.seconds, self.first = event.get("entropy_seconds", 0), event.get("first_dealer")
        if self.game not in GAMES or event.get("shuffle") != "committed" or event["dealing"] != "house":
            raise Broken("the server does not commit to its shuffles in this match")
        if self.first is None and self.game == ALGA:
            self.first = 0
        self.dealer = self.first

    def on_shuffle_committed(self, event, actor, at):
        again, self.commitment, self.added, self.about = self.commitment, event, {}, self.deal
        self.until = datetime.fromisoformat(event["until"]) if event.get("until") else None
        if again:
            raise NotFair("the server committed to the same deal twice")
        if self.until != (datetime.fromisoformat(at) + timedelta(seconds=self.seconds) if self.seconds else None):
            raise NotFair("the deadline for the seats does not match entropy_seconds")

    def on_shuffle_entropy_given(self, event, actor, at):
        seat = event["seat"]
        if type(seat) is not int or actor != f"seat:{seat}":
            raise NotFair(f"seat {seat} did not send event {self.number} itself")
        if not self.commitment or self.dealt is not None or seat not in self.playing():
            raise NotFair(f"event {self.number}: seat {seat} cannot add digits now")
        if seat in self.added:
            raise NotFair(f"event {self.number}: seat {seat} adds digits a second time")
        if not re.fullmatch("[0-9a-f]{32,64}", event["hex"]):
            raise NotFair(f"event {self.number}: seat {seat} adds no 32 to 64 hexadecimal digits")
        self.added[seat] = event["hex"]

    def on_dealer_card_drawn(self, event, actor, at):
        self.drawn.append((event["seat"], event["card"]))

    def on_dealer_drawn(self, event, actor, at):
        wanted, self.first = self.first is None, event["seat"]
        self.dealer = self.first
        expected, dealer = self.draw(self.order(0)[1])
        if not wanted or self.drawn != expected or event["seat"] != dealer:
            raise NotFair("the draw for the first dealer does not match the shuffle")

    def draw(self, cards):
        """B14-B15, C7-C8, D11-D13, E-O29: Return pairs of seat and drawn card, and the first dealer."""
        if self.game == RAMS:
            count = next(place for place, card in enumerate(cards, 1) if card[1] == "J")
            return [(place % self.seats, card) for place, card in enumerate(cards[:count])], (count - 1) % self.seats
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
            raise NotFair("its number or the seats that are out do not match the deals before")
        if event["dealer"] != self.dealer or actor != f"seat:{self.dealer}":
            raise NotFair(f"seat {self.dealer} has to deal")
        if self.game == RAMS and self.stake != (self.number - 1, self.dealer, actor, at):
            raise NotFair("the dealer has not staked in the act of the deal")
        seed, cards = self.order(self.number - (2 if self.game == RAMS else 1))  # D14: the stake comes first
        waiting = [seat for seat in self.playing() if seat not in self.added]
        if self.until and waiting and datetime.fromisoformat(at) < self.until:
            raise NotFair(f"the deal did not wait for the seats {waiting}")
        self.lay_out(event, seed, cards)

    def lay_out(self, event, seed, cards):
        """A9-A10, B18-B19, C12, D17-D20, E-O4: Deal these cards. Raise NotFair unless the event shows them."""
        order, sizes = [seat for seat in self.from_left_of(self.dealer) if seat in self.playing()], (3, 3)
        if self.game == RAMS:  # with six players the dealer gets no cards; else the widow comes before the dealer
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
        expect(event, "the cards do not match the shuffle", seed=seed, face_up=event.get("face_up") is True, **fields)
        self.hands = given

    def hand(self, seat):
        """Return the cards of a seat before the play. Raise NotFair if the seat has no cards."""
        if seat not in self.hands:
            raise NotFair(f"event {self.number}: seat {seat} has no cards")
        return self.hands[seat]

    def on_deal_picked_up(self, event, actor, at):
        if event.get("hand") and sorted(event["hand"]) != sorted(self.hand(event["seat"])):
            raise NotFair(f"event {self.number}: seat {event['seat']} picks up cards of a different hand")

    def on_deal_hand_requested(self, event, actor, at):
        self.asked.append((self.number, event["seat"]))

    def on_act_taken_back(self, event, actor, at):
        self.asked = [one for one in self.asked if not event["first"] <= one[0] <= event["last"]]

    def on_deal_new_hands(self, event, actor, at):
        """A13-A15: Deal to the seats that asked. If the stock is too short, add the thrown cards, shuffled."""
        seats, cards, fields = [seat for _, seat in self.asked], self.pack, {}
        self.thrown, self.asked = [*self.thrown, *(card for seat in seats for card in self.hand(seat))], []
        if len(cards) < 6 * len(seats):
            fields["seed"], new = self.order(self.number - 2)  # the event before the act of the last seat
            fields["last"], cards = True, cards + [card for card in new if card in self.thrown]
        given = dict(zip(seats, packets(cards, len(seats), (3, 3)), strict=True))
        self.pack, self.hands = cards[6 * len(seats) :], self.hands | given
        hands = [given.get(seat, []) for seat in range(self.seats)]
        expect(event, "the new hands do not match the shuffle", seats=seats, hands=hands, stock=self.pack, **fields)

    def on_deal_card_given(self, event, actor, at):
        """C13-C14: Give the next card of the stock to a hand without a card above ten."""
        seat, next_card, self.pack = event["seat"], self.pack[:1], self.pack[1:]
        if not next_card or any(card[1] in "JQKA" for card in self.hand(seat)):
            raise NotFair(f"event {self.number}: seat {seat} may not get a card")
        self.hands[seat] = self.hand(seat) + next_card
        expect(event, "the card given does not match the shuffle", seat=seat, card=next_card[0])

    def on_deal_cards_thrown(self, event, actor, at):
        hand, away = self.hand(event["seat"]), event.get("cards", [])
        if not set(away) <= set(hand) or len(away) != event["count"]:
            raise NotFair(f"event {self.number}: seat {event['seat']} throws away cards that it does not have")
        self.hands[event["seat"]] = [card for card in hand if card not in away]

    def on_trumps_made(self, event, actor, at):
        self.declarer = event["seat"]

    def on_deal_later_cards_dealt(self, event, actor, at):
        """E14, E50-E51: Deal the cards after the turn-up."""
        taker = self.declarer if self.seats == 4 else None
        counts = [3 if self.seats < 4 else 1 if seat == taker else 2 for seat in range(self.seats)]
        hands = [[] for _ in range(self.seats)]
        for seat in self.from_left_of(self.dealer):
            hands[seat], self.pack = self.pack[: counts[seat]], self.pack[counts[seat] :]
        expect(event, "the later cards do not match the shuffle", counts=counts, hands=hands, turn_up_to=taker)

    # After a deal

    def end(self, deal=None):
        """End the current deal. Return whether it has this number."""
        dealt, self.dealt, self.commitment, self.hands = self.dealt, None, None, {}
        if dealt is not None and self.faults[dealt] == UNFINISHED:
            self.faults[dealt] = None
        return dealt == deal == self.deal

    def on_match_won(self, event, actor, at):
        self.end()

    on_match_abandoned = on_match_closed = on_match_won

    def on_deal_voided(self, event, actor, at):
        if not self.end(event["deal"]):
            raise NotFair("the record ends a deal that was not dealt")

    def on_deal_scored(self, event, actor, at):
        """A8, B13, C9, D14, E-O29: Pass the deal to the next dealer."""
        is_this, dealer, out = self.end(event["deal"]), self.dealer, {*event.get("eliminated", [])}
        self.lines[event["deal"]] = event["dealer"], event["kind"]
        out_before, self.out, self.duel, self.deal = self.out, self.out | out, [], event["deal"] + 1
        self.dealer = self.next_dealer(event["dealer"], event["kind"])
        if not is_this or event["dealer"] != dealer:
            raise NotFair("the record ends a deal that was not dealt")
        if not out_before <= out <= set(range(self.seats)):
            raise NotFair("a seat that was out is in the match again")

    def next_dealer(self, dealer, kind):
        """E-O6: Return the dealer after a deal."""
        if self.game == KALABRIAS and kind == "redeal" and self.options.get("redeal_dealer") == "same":
            return dealer
        return next((seat for seat in self.from_left_of(dealer) if seat not in self.out), dealer)

    def on_player_eliminated(self, event, actor, at):
        self.announced.add(event["seat"])

    def on_duel_called(self, event, actor, at):
        """A56, C46: Pass the deal to the dealer of the duel."""
        self.about, seats, may = self.deal, event["seats"], self.playing()
        if self.game == ALGA:
            self.dealer = next(seat for seat in self.from_left_of(self.lines[self.deal - 1][0]) if seat in seats)
        self.duel = seats
        if event["dealer"] != self.dealer or len(set(seats)) < 2 or not set(seats) <= set(may):
            raise NotFair("the dealer or the seats of the duel are wrong")

    def on_protocol_corrected(self, event, actor, at):
        """J9: Pass the deal on from the last deal that counts."""
        self.out, self.announced, self.duel = {*event["eliminated"]}, {*event["eliminated"]}, event.get("duel", [])
        self.about = self.deal = event["next_deal"]
        counted = [self.lines[deal] for deal in sorted(self.lines) if deal not in event["struck"]]
        expected = self.next_dealer(*counted[-1]) if counted else self.first
        if self.duel and self.game == ALGA:
            expected = next(seat for seat in self.from_left_of(counted[-1][0]) if seat in self.duel)
        self.dealer = event["dealer"]
        if not event.get("won") and event["dealer"] != expected:
            raise NotFair(f"seat {expected} has to deal after event {self.number}")


def events_in(lines):
    """Yield the events of lines, each with a page or an event."""
    for page in map(json.loads, lines):
        yield from page.get("events", [page])


def checked(match, lines):
    """Apply the events. Return the fault of the record, or None. Deals after the fault are not proved fair."""
    broken = None
    for line in events_in(lines):
        try:
            if not broken:
                match.take(line)
        except Broken as fault:
            broken = str(fault)
        if broken and isinstance(deal := line["event"].get("deal"), int):
            match.faults[deal] = "the record is broken before the end of the deal"
    if match.kept and not broken:
        broken = f"event {min(match.kept)}, which you kept, is missing"
    return broken


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("match")
    parser.add_argument("deals", nargs="*", type=int)
    parser.add_argument("--kept")
    arguments = parser.parse_args()
    kept = {}
    if arguments.kept:
        with open(arguments.kept, encoding="utf-8") as file:
            kept = {event["number"]: event for event in events_in(file)}
    match, compared = Match(arguments.match, kept), len(kept)
    broken = checked(match, sys.stdin)
    deals = arguments.deals or sorted(match.faults)
    faults = [match.faults.get(deal, "the record does not contain the deal") for deal in deals]
    for deal, fault in zip(deals, faults, strict=True):
        print(f"deal {deal}: the shuffle is " + (f"not proved fair: {fault}" if fault else "fair"))
    print(f"kept events: every event ({compared}) was compared with the record")
    if broken:
        print(f"the record is broken: {broken}")
    return 1 if broken or not deals or any(faults) else 0


if __name__ == "__main__":
    sys.exit(main())
