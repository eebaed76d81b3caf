"""Matches whose house commits to its shuffle, as any client gets their events, and forgeries of them.

The forger here is able: it calculates the key and every card again, so that the cards follow from the changed record.
Only the parts that the forger had to change can be found.
"""

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

from msgspec.structs import replace

from referee.actors import actor_at
from referee.acts import Abandon, Void
from referee.cards import shuffled
from referee.events import Adjudication, DealScored, PenaltyImposed
from referee.games import RULESETS
from referee.officials.events.corrections import Why
from referee.officials.rescoring import script
from referee.phases import Over
from referee.refusals import Refused
from referee.requests import Correct
from tests.support.verifiable_shuffles import FAIR, MATCH, Played, checked, hashed

Line = dict[str, Any]
DEALS = 4
PLAYERS = {
    "kalabrias": (2, 3, 4),
    "rams-english": (3, 5, 6),
    "rodskagg-alga": (3, 5, 8),
    "rodskagg-catsatcards": (2, 4, 6),
    "rodskagg-kortoxen": (3, 5, 8),
}


class Record(NamedTuple):
    """The events of a match, from the first on."""

    match: UUID
    lines: tuple[Line, ...]


def record(ruleset: str, seed: object) -> Record:
    """Return a match played at random, with voids, corrections, seats that are out, and deals that wait."""
    chance = Random(f"{ruleset} {seed}")
    points = None if ruleset in ("kalabrias", "rams-english") else tuple(chance.randint(1, 8) for _ in range(8))
    players = chance.choice(PLAYERS[ruleset])
    officials = chance.random() < 0.5
    played = Played(
        f"{ruleset} {seed}",
        ruleset=ruleset,
        players=players,
        first_dealer=chance.choice((None, None, players - 1)),
        enforcement=chance.choice(("refuse", "penalise")),
        points=points and points[:players],
        adjudication=Adjudication(officials=("Maja",)) if officials else None,
        entropy_seconds=chance.choice((0, 0, 5)),
    )
    while played.kinds().count("deal/scored") < DEALS:
        if officials and played.kinds()[-1] == "shuffle/committed" and chance.random() < 0.4:
            correct(played, chance)
        if played.kinds()[-1] == "deal/dealt" and chance.random() < 0.2:
            played.do(Void())
        elif not move(played, chance):
            break
    if not isinstance(played.match.play, Over):
        played.do(Abandon())
    return Record(MATCH, tuple(map(json.loads, played.lines())))


def move(played: Played, chance: Random) -> bool:
    """Do something at random, or let the time pass for which a deal waits. Return whether the match goes on."""
    try:
        return bool(played.some(chance))
    except Refused as refused:
        if refused.code != "entropy_awaited":
            raise
        played.at = refused.facts["until"]
        return True


def correct(played: Played, chance: Random) -> None:
    """Correct the lines so far at random, if the rules allow it."""
    deals = [one.event.deal for one in played.history if isinstance(one.event, DealScored)]
    if not deals:
        return
    deal, seat = chance.choice(deals), chance.randrange(len(played.opening.players))
    late = script(deal, [PenaltyImposed(seat=seat, points=5, rule="B42")])
    strike = (max(deals),) if chance.random() < 0.5 else ()
    request = Correct(why=Why(rule="B42", reason="seen"), scripts=() if strike else (late,), strike=strike)
    match = played.match
    moment = replace(played.moment("official"), history=tuple(played.history))
    try:
        events, _ = match.procedure.take(match.state, request, moment)
    except Refused:
        return
    played.record(events, "official")
    played.tick()


def fair(one: Record) -> bool:
    """Return whether the checker says that all is fair."""
    return set(checked(one.match, map(json.dumps, one.lines)).values()) == {FAIR}


# A forger at work


def places(lines: list[Line], topic: str) -> list[int]:
    """Return the places of the events of a topic."""
    return [place for place, line in enumerate(lines) if line["event"]["topic"] == topic]


def numbered(lines: list[Line]) -> None:
    """Give every event the number of its place."""
    for number, line in enumerate(lines, 1):
        line["number"] = number


def dealings(lines: list[Line]) -> Iterator[tuple[int, int, int]]:
    """Yield for each dealing the places of its commitment, of its deal, and of the next commitment."""
    for begun, end in pairwise([*places(lines, "shuffle/committed"), len(lines)]):
        dealt = [place for place in places(lines, "deal/dealt") if begun < place < end]
        if dealt:
            yield begun, dealt[0], end


def dealt_again(lines: list[Line]) -> None:
    """Deal every hand again from the present record: each card becomes the card at the same place of the new
    order."""
    numbered(lines)
    seats = len(lines[0]["event"]["players"])
    for begun, dealt, end in dealings(lines):
        event = lines[dealt]["event"]
        committed = lines[begun]["event"]
        committed["commitment"] = hashed(committed["seed"])
        added = {one["event"]["seat"]: one["event"]["hex"] for one in lines[begun:dealt] if "hex" in one["event"]}
        number = dealt - (lines[dealt - 1]["event"]["topic"] == "pot/staked")
        said = ["knacka shuffle 2", str(MATCH), str(number), committed["seed"]]
        key = hashed("\n".join([*said, *(added.get(seat, "") for seat in range(seats))]))
        before, event["seed"] = shuffled(event["seed"]), f"2:{number}:{key}"
        small = lines[0]["event"]["ruleset"] in ("kalabrias", "rams-english")
        old, new = ([card for card in one if not small or card[1] > "6"] for one in (before, shuffled(event["seed"])))
        other = dict(zip(old, new, strict=True))
        for line in lines[dealt:end]:
            line["event"] = mapped(line["event"], other)


def mapped(value: Any, other: dict[str, str]) -> Any:
    """Return a value with its cards replaced by other cards."""
    if isinstance(value, dict):
        return {name: mapped(one, other) for name, one in value.items()}
    if isinstance(value, list):
        return [mapped(one, other) for one in value]
    return other.get(value, value) if isinstance(value, str) else value


def a_dealing(lines: list[Line], chance: Random) -> tuple[int, int, int]:
    """Return one of the dealings of a match."""
    return chance.choice(list(dealings(lines)))


def given(lines: list[Line], begun: int, dealt: int) -> list[int]:
    """Return the places at which seats added something to this dealing."""
    return [place for place in range(begun, dealt) if lines[place]["event"]["topic"] == "shuffle/entropy-given"]


def entropy(seat: int, actor: Any, like: Line, chance: Random) -> Line:
    """Return an event in which a seat adds something."""
    event = {"seat": seat, "hex": chance.randbytes(16).hex()}
    return {**like, "actor": actor, "event": {"topic": "shuffle/entropy-given", **event}}


# Forgeries; each returns whether there was anything to forge


def numbers_jump(lines: list[Line], chance: Random) -> bool:
    """Try numbers until the cards suit the server, and pretend that more events had happened."""
    _, dealt, _ = a_dealing(lines, chance)
    more, place = chance.randint(1, 40), chance.randint(1, dealt)
    seed = lines[dealt]["event"]["seed"]
    for line in lines[place:]:
        line["number"] += more
    lines[dealt]["event"]["seed"] = seed.replace("2:", f"2:{more}", 1)
    return True


def event_left_out(lines: list[Line], chance: Random) -> bool:
    """Leave out an event."""
    lines.pop(chance.randrange(len(lines) - 1))
    return True


def event_twice(lines: list[Line], chance: Random) -> bool:
    """Store an event twice."""
    place = chance.randrange(len(lines))
    lines.insert(place, lines[place])
    return True


def events_exchanged(lines: list[Line], chance: Random) -> bool:
    """Exchange two events."""
    place = chance.randrange(len(lines) - 1)
    lines[place], lines[place + 1] = lines[place + 1], lines[place]
    return True


def second_entropy(lines: list[Line], chance: Random) -> bool:
    """Let a seat add entropy a second time, and calculate the key with it."""
    begun, dealt, _ = a_dealing(lines, chance)
    if not (there := given(lines, begun, dealt)):
        return False
    first = lines[chance.choice(there)]
    lines.insert(there[-1] + 1, entropy(first["event"]["seat"], first["actor"], first, chance))
    dealt_again(lines)
    return True


def entropy_by_the_house(lines: list[Line], chance: Random) -> bool:
    """Add entropy in the name of a seat that gave none, by another actor."""
    begun, dealt, _ = a_dealing(lines, chance)
    seats = {*range(len(lines[0]["event"]["players"]))}
    silent = sorted(seats - {lines[place]["event"]["seat"] for place in given(lines, begun, dealt)})
    if not silent:
        return False
    seat = chance.choice(silent)
    actor = chance.choice(["official", "operator", None, seat, str(seat), *map(actor_at, sorted(seats - {seat}))])
    lines.insert(begun + 1, entropy(seat, actor, lines[begun], chance))
    dealt_again(lines)
    return True


def entropy_from_outside(lines: list[Line], chance: Random) -> bool:
    """Let a seat outside the deal, or a number that is no seat, add entropy."""
    begun, dealt, _ = a_dealing(lines, chance)
    seats = len(lines[0]["event"]["players"])
    counts = lines[dealt]["event"]["counts"]
    sits_out = lines[dealt]["event"]["dealer"] if lines[0]["event"]["ruleset"] == "rams-english" else -1
    beside = [seat for seat in range(seats) if not counts[seat] and seat != sits_out]
    seat = chance.choice([*beside, seats] if beside else [seats, -1, True])
    lines.insert(begun + 1, entropy(seat, seat, lines[begun], chance))
    dealt_again(lines)
    return True


def entropy_after_the_deal(lines: list[Line], chance: Random) -> bool:
    """Let a seat add entropy after the deal."""
    _, dealt, _ = a_dealing(lines, chance)
    lines.insert(dealt + 1, entropy(0, 0, lines[dealt], chance))
    dealt_again(lines)
    return True


def no_digits(lines: list[Line], chance: Random) -> bool:
    """Let a seat add too few digits, or none."""
    begun, dealt, _ = a_dealing(lines, chance)
    if not (there := given(lines, begun, dealt)):
        return False
    lines[chance.choice(there)]["event"]["hex"] = chance.choice(("", "0", "x" * 32, "0" * 65, "A" * 32))
    dealt_again(lines)
    return True


def other_fields(lines: list[Line], chance: Random) -> bool:
    """Give an event an unknown field, or remove one."""
    topic = chance.choice(("deal/dealt", "shuffle/committed", "shuffle/entropy-given", "deal/scored"))
    if not (there := places(lines, topic)):
        return False
    place = chance.choice(there)
    if chance.random() < 0.3:
        lines[place]["event"].pop(chance.choice([name for name in lines[place]["event"] if name in NEEDED]))
    else:
        lines[place]["event"][chance.choice(("seats", "card", "hex", "players", "turn"))] = [1, 0]
    return True


NEEDED = {"deal", "dealer", "counts", "commitment", "seed", "seat", "hex", "kind", "points", "hands"}


def other_seats(lines: list[Line], chance: Random) -> bool:
    """Give the same cards to other seats, by a field that names them."""
    _, dealt, _ = a_dealing(lines, chance)
    event = lines[dealt]["event"]
    event["seats"] = [*range(len(event["hands"]))]
    event["hands"] = event["hands"][1:] + event["hands"][:1]
    return True


def other_dealer(lines: list[Line], chance: Random) -> bool:
    """Let another seat deal, so that the same cards go to other seats."""
    _, dealt, end = a_dealing(lines, chance)
    seats = len(lines[dealt]["event"]["hands"])
    by = chance.randint(1, seats - 1)
    for line in lines[dealt - 1 : end]:
        event = line["event"]
        for name in {"hands", "counts"} & event.keys():
            event[name] = event[name][-by:] + event[name][:-by]
        if line["event"]["topic"] in ("deal/dealt", "pot/staked", "deal/scored"):
            line["actor"] = actor_at((lines[dealt]["event"]["dealer"] + by) % seats)
        for name in {"dealer", "seat"} & event.keys():
            event[name] = None if event[name] is None else (event[name] + by) % seats
    return True


def other_dealer_of_a_line(lines: list[Line], chance: Random) -> bool:
    """Name another dealer on a line."""
    if not (there := places(lines, "deal/scored")):
        return False
    event = lines[chance.choice(there)]["event"]
    event["dealer"] = (event["dealer"] + 1) % len(lines[0]["event"]["players"])
    return True


def other_first_dealer(lines: list[Line], chance: Random) -> bool:
    """Name another seat as the one that drew the first deal."""
    if not (there := places(lines, "dealer/drawn")):
        return False
    event = lines[there[0]]["event"]
    event["seat"] = (event["seat"] + 1) % len(lines[0]["event"]["players"])
    return True


def other_deal(lines: list[Line], chance: Random) -> bool:
    """Give a deal the number of a different one."""
    _, dealt, _ = a_dealing(lines, chance)
    lines[dealt]["event"]["deal"] += chance.choice((-1, 1))
    return True


def seat_is_out(lines: list[Line], chance: Random) -> bool:
    """Eliminate a seat that plays the next deal."""
    topics = [line["event"]["topic"] for line in lines]
    there = places(lines, "deal/scored")
    next_deals = [topics.index("deal/dealt", place) for place in there if "deal/dealt" in topics[place:]]
    if not next_deals or "protocol/corrected" in topics:
        return False
    out, players = lines[chance.choice(there[: len(next_deals)])]["event"], len(lines[0]["event"]["players"])
    left = [seat for seat in range(players) if seat not in out.get("eliminated", [])]
    out["eliminated"] = sorted([*out.get("eliminated", []), chance.choice(left)])
    return True


def cards_change_hands(lines: list[Line], chance: Random) -> bool:
    """Exchange a card of two seats."""
    _, dealt, _ = a_dealing(lines, chance)
    hands = [hand for hand in lines[dealt]["event"]["hands"] if hand]
    one, other = chance.sample(hands, 2)
    one[0], other[0] = other[0], one[0]
    return True


def other_turn_up(lines: list[Line], chance: Random) -> bool:
    """Turn up another card, and put the original one into the stock or the widow."""
    _, dealt, _ = a_dealing(lines, chance)
    event = lines[dealt]["event"]
    rest = event.get("widow") or event.get("stock")
    if not rest or "turn_up" not in event:
        return False
    event["turn_up"], rest[0] = rest[0], event["turn_up"]
    return True


def other_stock(lines: list[Line], chance: Random) -> bool:
    """Change the order of the cards to come."""
    _, dealt, _ = a_dealing(lines, chance)
    stock = lines[dealt]["event"].get("stock")
    if not stock or len(stock) < 2:
        return False
    stock[0], stock[1] = stock[1], stock[0]
    return True


def other_later_cards(lines: list[Line], chance: Random) -> bool:
    """Give later cards to other seats, or change them."""
    there = [
        place
        for topic in ("deal/later-cards-dealt", "deal/new-hands", "deal/card-given")
        for place in places(lines, topic)
    ]
    if not there:
        return False
    event = lines[chance.choice(there)]["event"]
    if "card" in event:
        event["card"] = "S2" if event["card"] != "S2" else "S3"
    else:
        event["hands"] = event["hands"][1:] + event["hands"][:1]
    return True


def picked_up_others(lines: list[Line], chance: Random) -> bool:
    """Let a seat pick up other cards than it was dealt."""
    if not (there := places(lines, "deal/picked-up")):
        return False
    hand = lines[chance.choice(there)]["event"]["hand"]
    hand[0] = next(card for card in ("S2", "S3", "S4", "S5", "S6", "S7", "S8") if card not in hand)
    return True


def other_seed(lines: list[Line], chance: Random) -> bool:
    """Use another seed than the committed one."""
    begun, _, _ = a_dealing(lines, chance)
    committed = lines[begun]["event"]["commitment"]
    lines[begun]["event"]["seed"] = chance.randbytes(32).hex()
    dealt_again(lines)
    lines[begun]["event"]["commitment"] = committed
    return True


def no_seed(lines: list[Line], chance: Random) -> bool:
    """Keep the seed hidden."""
    begun, dealt, _ = a_dealing(lines, chance)
    lines[chance.choice((begun, dealt))]["event"]["seed"] = ""
    return True


def committed_again(lines: list[Line], chance: Random) -> bool:
    """Commit to another seed after the seats have added entropy."""
    _, dealt, _ = a_dealing(lines, chance)
    place = dealt - (lines[dealt - 1]["event"]["topic"] == "pot/staked")
    begun = max(at for at in places(lines, "shuffle/committed") if at < dealt)
    event = {**lines[begun]["event"], "seed": chance.randbytes(32).hex()}
    lines.insert(place, {**lines[begun], "event": event})
    dealt_again(lines)
    return True


def never_committed(lines: list[Line], chance: Random) -> bool:
    """Leave out the commitment of a deal."""
    begun, _, _ = a_dealing(lines, chance)
    lines.pop(begun)
    numbered(lines)
    return True


def did_not_wait(lines: list[Line], chance: Random) -> bool:
    """Deal before all seats had added entropy, although the deal had to wait."""
    if not lines[0]["event"].get("entropy_seconds"):
        return False
    begun, dealt, _ = a_dealing(lines, chance)
    there = given(lines, begun, dealt)
    until = lines[begun]["event"].get("until")
    if not there or until is None or lines[dealt]["at"] >= until:
        return False
    lines.pop(chance.choice(there))
    dealt_again(lines)
    return True


def end_cut_off(lines: list[Line], chance: Random) -> bool:
    """End the record before a deal is over."""
    _, dealt, _ = list(dealings(lines))[-1]
    del lines[dealt + 1 :]
    return True


def of_another_match(lines: list[Line], chance: Random) -> bool:
    """Begin another match in it."""
    place = chance.randint(1, len(lines))
    lines.insert(place, lines[0])
    numbered(lines)
    return True


def not_by_the_dealer(lines: list[Line], chance: Random) -> bool:
    """Let another seat than the dealer deal."""
    _, dealt, _ = a_dealing(lines, chance)
    lines[dealt]["actor"] = actor_at((lines[dealt]["event"]["dealer"] + 1) % len(lines[0]["event"]["players"]))
    return True


FORGERIES: tuple[Callable[[list[Line], Random], bool], ...] = (
    numbers_jump,
    event_left_out,
    event_twice,
    events_exchanged,
    second_entropy,
    entropy_by_the_house,
    entropy_from_outside,
    entropy_after_the_deal,
    no_digits,
    other_fields,
    other_seats,
    other_dealer,
    other_dealer_of_a_line,
    other_first_dealer,
    other_deal,
    seat_is_out,
    cards_change_hands,
    other_turn_up,
    other_stock,
    other_later_cards,
    picked_up_others,
    other_seed,
    no_seed,
    committed_again,
    never_committed,
    did_not_wait,
    end_cut_off,
    of_another_match,
    not_by_the_dealer,
)


def forged(one: Record, forge: Callable[[list[Line], Random], bool], chance: Random) -> Record | None:
    """Return a forgery of a match; ``None`` if the forger finds nothing to change."""
    lines: list[Line] = json.loads(json.dumps(one.lines))
    if not forge(lines, chance):
        return None
    assert lines != list(one.lines), f"{forge.__name__} changes nothing"
    return Record(one.match, tuple(lines))


def tried(tries: int, seed: int) -> Iterator[tuple[str, bool]]:
    """Yield the kinds of ``tries`` random forgeries, each with whether it was accepted as fair; before the first
    forgery of a match ``honest``, with whether the match was."""
    chance = Random(seed)
    done = matches = 0
    while done < tries:
        one = record(chance.choice(list(RULESETS)), f"{seed} {matches}")
        matches += 1
        if not places(list(one.lines), "deal/dealt"):
            continue
        yield "honest", fair(one)
        for forge in chance.sample(FORGERIES, min(20, tries - done)):
            if (false := forged(one, forge, chance)) is not None:
                done += 1
                yield forge.__name__, fair(false)
