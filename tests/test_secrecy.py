"""The visibility of each field of each event: a readable table, compared with every view of every event.

An event or a field that is not in the table fails here, before any viewer has seen it.
"""

import re
from datetime import UTC, date, datetime
from itertools import count
from typing import Any
from uuid import UUID

import msgspec
import pytest
from msgspec import inspect
from msgspec.structs import replace

from referee.actors import actor_at
from referee.events import DEAL_ENDS
from referee.store.club import Club
from referee.store.log import Log
from referee.store.match import Match
from referee.visibility import Event, Viewer, as_seen_by
from tests.plump.plump import RULESET as PLUMP

TABLE = """
match/opened            all        ruleset edition options players dealing enforcement points pot taken_over
                        all        first_dealer stakes adjudication shuffle entropy_seconds
                        all        club evening table members visibility stakes_need stake_limit
                        nobody     tokens official officials dockets given_by
match/abandoned         all        deal reason rule pot_before shares pot before points settlement
match/closed            all        rule pot_before shares pot before points settlement
match/invited           all        invitation role by expires_at seat official
                        nobody     hash given_by
match/invitation-redeemed all      invitation
match/token-ended       all        seat role official
match/token-made        all        seat role official
                        nobody     hash given_by
match/won               all        seat by rule points settlement halves seats payments
player/eliminated       all        seat rule

dealer/card-drawn       all        seat card
dealer/drawn            all        seat rule

stakes/agreed           all        seats how invitation
stakes/declined         all        seat

shuffle/committed       all        commitment until
                        sealed     seed
shuffle/entropy-given   all        seat hex

deal/dealt              all        deal dealer turn_up face_up
                        veiled_counts counts
                        veiled_hands hands
                        open       each stock widow seed
                        official   breaches
deal/cut                all        seat
                        official   breaches
deal/formula-said       all        seat
deal/picked-up          all        seat
                        own        hand
                        official   breaches
deal/misdeal-found      all        seat rule
                        official   breaches
deal/hand-requested     all        seat
                        own        cards
deal/hand-kept          all        seat
deal/new-hands          all        seats last
                        by_seat    hands
                        open       stock seed
deal/card-given         all        seat
                        own        card
deal/cards-thrown       all        seat count
                        own        cards
deal/later-cards-dealt  all        counts turn_up_to
                        by_seat    hands
deal/seven-exchanged    all        seat card turn_up
deal/counted            all        kind tricks declarer trumps card_points sequence_points bella_points scoring
deal/play-ended         all        kind
deal/scored             all        deal dealer kind declarer contract tricks answers penalties before points entries
                        all        eliminated pot_before pot pot_entries halves detail
deal/voided             all        deal reason before points entries

auction/bid             all        seat bid
auction/won             all        seat contract
trumps/called           all        seat call
trumps/made             all        seat trumps rule
redeal/answered         all        seat agree
redeal/declarer-bound   all        seat rule
declarations/spoken     all        seat word
                        own        hand
declarations/closed     all        order leader rule announcer
turn-up/taken           all        seat card
                        own        laid
pot/staked              all        seat amount pot double

card/played             all        seat card
                        official   breaches
trick/second-told       all        seat trick
trick/taken             all        seat trick uncontested grace_until second
                        official   breaches
result/entered          all        result
sequence/declared       all        seat sequence top trumps five
sequence/answered       all        seat answer five
                        open       refrains
sequence/compared       all        seat level
sequence/shown          all        seat cards
bella/declared          all        seat
question/asked          all        seat of
question/answered       all        seat answer
question/reminded       all        seat
announcement/made       all        seat what total
exit/knocked            all        seat valid
duel/called             all        seats dealer rule
duel/lead-drawn         all        seat

fault/reported          all        seat accused fault
                        official   breaches
fault/lifted            all        accused fault
knock/upheld            all        case seat accused offence rule payer penalty rests_on named appeal_until note_kept
                        veiled_note note
knock/dismissed         all        case seat accused rule named of appeal_until note_kept
                        veiled_note note
                        veiled_reason reason offence rests_on within_deal
penalty/imposed         all        seat points rule case

case/opened             all        case by kind deal offence accused payer events within_deal
                        text_for_writer  text
                        result_without_notes result
case/stated             all        case seat agrees events within_deal knocked
                        text_for_writer  text
case/withdrawn          all        case overtaken
case/ruled              all        case instance verdict standard rule offence official payer penalty rests_on
                        all        precedents remedy appeal_until within_deal
                        text_after_deal reason
case/appealed           all        case seat within_deal
                        text_for_writer  text
protocol/corrected      all        case deal why lines struck points eliminated dealer next_deal halves pot duel
                        all        carried fresh won replaces
                        official   scripts strike
act/take-back-asked     all        seat first last
act/taken-back          all        case first last seat

club/founded            all        name currencies timezone founder expires_at
                        nobody     hash
club/set                all        name currencies timezone payout_limit keep_years sie stakes_need stake_limit alone
member/joined           all        member name
member/named            all        member name
member/left             all        member on
member/erased           all        member texts balances entry deleted changed
payee/set               all        member swish iban alone
key/issued              all        key scopes expires_at member app given_by
                        nobody     hash
key/invited             all        key member scopes expires_at until by alone given_by
                        nobody     hash
key/redeemed            all        key
                        nobody     hash
key/rotated             all        key until given_by
                        nobody     hash
key/revoked             all        key counts_until
evening/opened          all        evening on season
evening/closed          all        evening
log/opened              all        origin
log/signed              all        size root note
proposal/made           all        proposal act by draft
proposal/confirmed      all        proposal by
proposal/declined       all        proposal act by
money/posted            all        kind currency postings by evening reverses reversed_kind proposal plan balance
books/closed            all        closing through digest trial label alone

plump/bid               all        seat bid
plump/fingers-shown     all        seat
                        own        number
plump/fingers-compared  all        shown
plump/late-fingers-lifted all      seat
"""


def audiences() -> dict[str, dict[str, str]]:
    """Return the audience by topic and field."""
    read: dict[str, dict[str, str]] = {}
    topic = ""
    for line in filter(None, TABLE.splitlines()):
        words = line.split()
        if not line.startswith(" "):
            topic, *words = words
            assert topic not in read, f"{topic} stands twice"
            read[topic] = {}
        audience, *fields = words
        assert not read[topic].keys() & fields, f"a field of {topic} stands twice"
        read[topic] |= dict.fromkeys(fields, audience)
    return read


AUDIENCES = audiences()
TYPES: dict[str, type[Event]] = {kind.TOPIC: kind for kind in (*Match.FACTS, *Club.FACTS, *Log.FACTS, *PLUMP.events)}
SEATS = range(4)
HOLDER = 1
VIEWERS: tuple[Viewer, ...] = (*SEATS, "spectator", "official")


def test_every_event_is_in_the_table():
    assert AUDIENCES.keys() == TYPES.keys()


@pytest.mark.parametrize("topic", TYPES)
def test_every_field_has_the_audience_that_the_table_gives_it(topic: str):
    kind = TYPES[topic]
    assert kind.HIDDEN.keys() <= set(kind.__struct_fields__)
    named = {name: kind.HIDDEN.get(name, "all") for name in kind.__struct_fields__}
    told = {name: getattr(audience, "__name__", audience) for name, audience in named.items()}
    assert told == AUDIENCES.get(topic)


# By their values


def some(kind: inspect.Type, numbers: "count[int]") -> Any:
    """Return a value of this kind that is unique and no default."""
    match kind:
        case inspect.Metadata(type=named):
            return some(named, numbers)
        case inspect.UnionType(types=types):
            return some(next(one for one in types if not isinstance(one, inspect.NoneType)), numbers)
        case inspect.VarTupleType(item_type=item):
            return tuple(some(item, numbers) for _ in SEATS[: kind.max_length])
        case inspect.TupleType(item_types=items):
            return tuple(some(item, numbers) for item in items)
        case inspect.DictType():
            return {f"key {next(numbers)}": next(numbers)}
        case inspect.StructType(cls=cls, fields=fields):
            return cls(**{field.name: some(field.type, numbers) for field in fields})
    return some_scalar(kind, numbers)


def some_scalar(kind: inspect.Type, numbers: "count[int]") -> Any:
    """Return a value of a kind that contains no other."""
    match kind:
        case inspect.BoolType():
            return True
        case inspect.IntType(le=int(most)):
            return most
        case inspect.IntType() | inspect.FloatType():
            return next(numbers)
        case inspect.StrType(pattern=str(pattern)):
            return next(text for text in ("S", "A", "SEK", "official") if re.match(pattern, text))
        case inspect.StrType() | inspect.AnyType():
            return f"value {next(numbers)}"
        case inspect.DateTimeType():
            return datetime(2000 + next(numbers), 1, 1, tzinfo=UTC)
        case inspect.UUIDType():
            return UUID(int=next(numbers))
        case inspect.DateType():
            return date(2000 + next(numbers), 1, 1)
        case inspect.LiteralType(values=values):
            return values[-1]
    raise AssertionError(f"a field of a new kind: {kind}")


def events() -> dict[str, Event]:
    """Return one event of every type with a value in every hidden field, and both values of a field that decides."""
    made: dict[str, Event] = {}
    for topic, kind in TYPES.items():
        event = some(inspect.type_info(kind), count(10))
        made[topic] = replace(event, seat=HOLDER) if isinstance(getattr(event, "seat", None), int) else event
    made["case/opened"] = replace(made["case/opened"], by=actor_at(HOLDER))
    made["case/ruled"] = replace(made["case/ruled"], official="official:2")
    said = ("case/opened", "case/stated", "case/ruled", "case/appealed")
    made |= {f"{topic}, between deals": replace(made[topic], within_deal=False) for topic in said}
    made["knock/upheld, note told"] = replace(made["knock/upheld"], note_kept=False)
    dealt, ruling = made.pop("deal/dealt"), made.pop("knock/dismissed")
    counts = (6, 6, 0, 7)
    made |= {
        "deal/dealt, hands up": replace(dealt, face_up=True, each=0, counts=counts),
        "deal/dealt, hands down": replace(dealt, face_up=False, each=0, counts=counts),
        "deal/dealt, to be counted": replace(dealt, face_up=True, each=6, counts=counts),
        "deal/dealt, closed": replace(dealt, face_up=True, each=6, counts=counts, hands=None),
        "knock/dismissed, too late": replace(ruling, reason="late", within_deal=True),
        "knock/dismissed, after the deal": replace(ruling, reason="late", within_deal=False),
        "knock/dismissed, again": replace(ruling, reason="again", within_deal=True),
    }
    return made


EVENTS = events()
EMPTY: dict[str, Any] = {"hash": "", "tokens": (), "official": "", "reason": "nothing"}
"""Values shown instead of hidden fields that have no default."""
NAUGHT = {"shuffle/committed": {"seed": ""}}
"""Values by event, if they differ from ``EMPTY``."""


def expected(event: Any, field: str, viewer: Viewer, public: bool) -> Any:
    """Return the value that a viewer should see, by the word in the table."""
    value, audience = getattr(event, field), AUDIENCES[event.TOPIC][field]
    default = {one.name: one.default for one in msgspec.structs.fields(event)}[field]
    usual = EMPTY.get(field) if default is msgspec.NODEFAULT else default
    nothing = NAUGHT.get(event.TOPIC, {}).get(field, usual)
    seen_by = {"all": True, "nobody": False, "sealed": public, "official": viewer == "official"}
    if audience in seen_by:
        return value if seen_by[audience] else nothing
    if viewer == "official" or public:
        return value
    return during_the_deal(event, audience, value, nothing, viewer)


def during_the_deal(event: Any, audience: str, value: Any, nothing: Any, viewer: Viewer) -> Any:
    """Return the value that a seat or a spectator should see before the cards are open."""
    match audience:
        case "open":
            return nothing
        case "own":
            return value if viewer == HOLDER else nothing
        case "by_seat":
            return own_hand(value, viewer)
        case "veiled_hands":
            return None if value is None or not event.face_up else own_hand(value, viewer)
        case "veiled_counts":
            return (6, 6, 0, 6) if event.each else value
        case "text_for_writer":
            return value if viewer == HOLDER or not event.within_deal else nothing
        case "result_without_notes":
            bare = replace(value, knocks=tuple(replace(knock, note="") for knock in value.knocks))
            return value if viewer == HOLDER or not event.within_deal else bare
        case "veiled_note":
            return value if viewer == HOLDER or not event.note_kept else nothing
        case "text_after_deal":
            return nothing if event.within_deal else value
        case "veiled_reason":
            return nothing if event.reason == "late" and event.within_deal else value
    raise AssertionError(f"no such audience: {audience}")


def own_hand(hands: Any, viewer: Viewer) -> tuple[Any, ...]:
    """Return the hands of all seats, with only the viewer's own cards."""
    return tuple(hands[seat] if viewer == seat else () for seat in SEATS)


@pytest.mark.parametrize("public", [False, True], ids=["face down", "public"])
@pytest.mark.parametrize("viewer", VIEWERS)
@pytest.mark.parametrize("name", EVENTS)
def test_a_viewer_sees_exactly_the_fields_of_the_table(name: str, viewer: Viewer, public: bool):
    event = EVENTS[name]
    told = as_seen_by(event, viewer, public)
    assert type(told) is type(event)
    for field in event.__struct_fields__:
        assert getattr(told, field) == expected(event, field, viewer, public), field
    assert msgspec.json.decode(msgspec.json.encode(told), type=type(event)) == told, "it can still be read"


def test_each_hidden_field_of_the_examples_differs_from_its_replacement():
    """Every hidden value differs from its replacement."""
    for name, event in EVENTS.items():
        for field, audience in AUDIENCES[event.TOPIC].items():
            if field == "each" and name in ("deal/dealt, hands up", "deal/dealt, hands down"):
                continue  # all seats have the right number
            if audience in ("nobody", "official", "open", "own"):
                assert getattr(event, field) != expected(event, field, "spectator", audience == "nobody"), name


def test_an_event_that_hides_nothing_is_not_made_again():
    for event in EVENTS.values():
        if set(AUDIENCES[event.TOPIC].values()) == {"all"}:
            assert all(as_seen_by(event, viewer, public=False) is event for viewer in VIEWERS)
        if not {"nobody", "sealed"} & set(AUDIENCES[event.TOPIC].values()):
            assert as_seen_by(event, "official", public=False) is event


def test_the_cards_lie_open_when_a_deal_or_the_match_has_ended():
    ends = {"match/won", "match/closed", "match/abandoned"}
    assert {kind.TOPIC for kind in DEAL_ENDS} == {"deal/scored", "deal/voided"} | ends
