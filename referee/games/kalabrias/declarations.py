"""Declarations of sequences (cards of one suit in a row) and of bella, king and queen of trumps (E15-E27).

Statements about known hands must be true, but "none" and "enough" are always allowed (E25, E-O33). Closed hands are
checked when the deal is scored.
"""

from msgspec.structs import replace

from referee.acts import Bella, Declare, Respond
from referee.cards import BIT, cards_of
from referee.games.kalabrias.facts import (
    Answer,
    BellaDeclared,
    SequenceAnswered,
    SequenceDeclared,
    SequencesCompared,
    SequenceShown,
)
from referee.games.kalabrias.ranks import BELLA, RANKS, TOPS, Sequence, is_sequence, strongest_sequence
from referee.games.kalabrias.states import Claim, Declaring, Playing, Sequences, Table
from referee.refusals import AgainstTheRules, NoSuchCard, OutOfTurn, Refused, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event

_RULE_BY_EXPECTED = {
    "class": "E19",
    "answer": "E20",
    "top": "E21",
    "answer_to_top": "E22",
    "trumps": "E23",
    "answer_trumps": "E23",
}


def seats_to_speak(state: Declaring) -> tuple[int, ...]:
    """Return the seat that must speak; empty after the last statement."""
    if state.expected in ("top", "trumps"):
        assert state.best is not None, "the question is for the best sequence"
        return (state.best.seat,)
    return state.to_speak[:1]


def best_sequence(state: Declaring, seat: int) -> Sequence | None:
    """Return the best sequence of a seat's known hand, or None."""
    return strongest_sequence(
        state.cards.hands[seat], state.contract.trumps, state.table.options.longer_sequence_wins
    )


def declare(state: Declaring, act: Declare, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a statement about a seat's best sequence (E19, E21, E23). An addition needs no turn.

    Raises: OutOfTurn, WrongPhase if an answer is expected or cards are shown, AgainstTheRules for a statement that is
    not expected or that the known hand or earlier statements contradict.
    """
    if _is_addition(state, act):
        return (SequenceDeclared(seat=act.seat, trumps=False),)
    if act.cards is not None:
        raise WrongPhase("shown_in_the_play", "E-O34")
    if act.seat != (seat := seats_to_speak(state)[0]):
        raise OutOfTurn("out_of_turn", "E19", turn=seat)
    expected = state.expected
    if expected in ("answer", "answer_to_top"):
        raise WrongPhase("answer_expected", _RULE_BY_EXPECTED[expected])
    stated = [name for name in ("sequence", "top", "trumps") if getattr(act, name) is not None]
    if len(stated) != 1:
        raise AgainstTheRules("one_thing_at_a_time", "E19")
    if stated[0] != {"class": "sequence", "top": "top"}.get(expected, "trumps"):
        raise AgainstTheRules("something_else_asked", _RULE_BY_EXPECTED[expected], expected=expected)
    return (_statement_event(state, act),)


def _is_addition(state: Declaring | Playing, act: Declare) -> bool:
    """Return whether an act only adds that an equal sequence is not in trumps (E23)."""
    return act == Declare(seat=act.seat, trumps=False) and act.seat == state.may_add


def _statement_event(state: Declaring, act: Declare) -> SequenceDeclared:
    """Return the event of a statement. Raises AgainstTheRules if hand or statements contradict it (E21, E-O33)."""
    seat, known, best = act.seat, state.cards.known, state.best
    mine = best_sequence(state, seat) if known else None
    if act.sequence is not None:
        if not known or act.sequence == "none":
            return SequenceDeclared(seat=seat, sequence=act.sequence)
        if mine is None or mine.name != act.sequence:
            raise AgainstTheRules("not_in_the_hand", "E-O33")
        return SequenceDeclared(seat=seat, sequence=act.sequence, five=mine.five)
    if act.top is not None:
        if act.top not in allowed_tops(state):
            raise AgainstTheRules("not_the_top", "E21")
        return SequenceDeclared(seat=seat, top=act.top)
    assert best is not None, "there is a best sequence to compare with"
    if mine is not None and act.trumps is not mine.trumps:
        raise AgainstTheRules("not_in_the_hand", "E-O33")
    return SequenceDeclared(seat=seat, trumps=act.trumps)


def allowed_tops(state: Declaring) -> str:
    """Return the ranks that may be the top of the best sequence (E21)."""
    best = state.best
    assert best is not None, "the question is for the best sequence"
    if state.cards.known:
        mine = best_sequence(state, best.seat)
        assert mine is not None, "the hand has the sequence"
        return RANKS[mine.top]
    tops = TOPS[best.sequence]
    return tops if best.above is None else tops[tops.index(best.above) + 1 :]


def sequence_declared(state: Declaring | Playing, event: SequenceDeclared, number: int) -> Declaring | Playing:
    """Return the next state. Of equal sequences one in trumps becomes the best, others are level (E23-E24)."""
    if event.seat == state.may_add and event.trumps is False:
        return replace(state, may_add=None)
    assert isinstance(state, Declaring), "only an addition comes later"
    if event.sequence == "none":
        return _with_next_speaker(replace(state, refrained=(*state.refrained, event.seat)))
    if event.sequence is not None:
        return _with_next_speaker(
            replace(state, best=Claim(seat=event.seat, event=number, sequence=event.sequence, five=event.five))
        )
    best = state.best
    assert best is not None, "the question is for the best sequence"
    if event.top is not None:
        return replace(state, best=replace(best, top=event.top), expected="answer_to_top")
    if state.expected == "trumps":
        return _after_trumps_stated(replace(state, best=replace(best, trumps=event.trumps)))
    if event.trumps:
        better = replace(best, seat=event.seat, event=number, trumps=True)
        return _with_next_speaker(replace(state, best=better, level=()))
    return _with_next_speaker(replace(state, level=(*state.level, event.seat)))


def _with_next_speaker(state: Declaring) -> Declaring:
    """Return the state in which the next seat speaks (E-O28)."""
    return replace(state, to_speak=state.to_speak[1:], expected="class" if state.best is None else "answer")


def _after_trumps_stated(state: Declaring) -> Declaring:
    """Return the state after the seat with the best sequence stated whether it is in trumps (E23-E24)."""
    assert state.best is not None, "there is a best sequence to compare with"
    if state.best.trumps:
        return _with_next_speaker(replace(state, may_add=state.to_speak[0]))
    return replace(state, expected="answer_trumps")


def respond(state: Declaring, act: Respond, moment: Moment) -> tuple[Event, ...]:
    """Return the event of an answer to the best sequence so far (E20, E22).

    Raises: WrongPhase if no answer is expected, OutOfTurn, AgainstTheRules for an answer that the known hand or
    earlier statements contradict.
    """
    if state.expected not in ("answer", "answer_to_top"):
        raise WrongPhase("nothing_to_answer", "E20")
    seat, answer = act.seat, act.answer
    if seat != state.to_speak[0]:
        raise OutOfTurn("out_of_turn", "E20", turn=state.to_speak[0])
    if answer not in allowed_answers(state):
        raise AgainstTheRules("not_in_the_hand", "E-O33")
    five = refrains = False
    if state.cards.known:
        assert state.best is not None, "there is something to answer"
        mine, theirs = best_sequence(state, seat), best_sequence(state, state.best.seat)
        assert theirs is not None, "the hand has the sequence"
        refrains = answer == "enough" and mine is not None and (mine.cards, mine.top) >= (theirs.cards, theirs.top)
        five = answer == "better" and mine is not None and mine.five
    elif state.expected == "answer" and answer == "better":
        five = state.best is not None and state.best.sequence == "large"  # because only five beat four (E-O11)
    elif answer == "better":
        five = state.best is not None and state.best.five  # because it is as long as the best
    return (SequenceAnswered(seat=seat, answer=answer, five=five, refrains=refrains),)


def allowed_answers(state: Declaring) -> tuple[Answer, ...]:
    """Return "enough" and the answers that can be true (E-O33)."""
    best = state.best
    assert best is not None, "there is something to answer"
    if not state.cards.known:
        if state.expected == "answer":
            longer = state.table.options.longer_sequence_wins and not best.five
            can_be_better = best.sequence == "small" or longer
        else:
            can_be_better = best.top != RANKS[-1]
        return ("better", "equal", "enough") if can_be_better else ("equal", "enough")
    mine, theirs = best_sequence(state, state.to_speak[0]), best_sequence(state, best.seat)
    if mine is None:
        return ("enough",)
    assert theirs is not None, "the hand has the sequence"
    ahead = mine.cards - theirs.cards if state.expected == "answer" else mine.top - theirs.top
    if ahead < 0:
        return ("enough",)
    return ("better", "enough") if ahead else ("equal", "enough")


def sequence_answered(state: Declaring, event: SequenceAnswered, number: int) -> Declaring:
    """Return the state after an answer: the next seat speaks, or top or trumps are compared (E-O35)."""
    best, first = state.best, state.expected == "answer"
    assert best is not None, "there is something to answer"
    if event.answer == "enough":
        refrained = (*state.refrained, event.seat) if event.refrains else state.refrained
        return _with_next_speaker(replace(state, refrained=refrained))
    if event.answer == "better":
        above = None if first else best.top
        claim = Claim(
            seat=event.seat,
            event=number,
            sequence="large" if first else best.sequence,
            five=event.five,
            above=above,
        )
        return _with_next_speaker(replace(state, best=claim, level=()))
    if first:
        return replace(state, expected="top" if best.top is None else "answer_to_top")
    if best.trumps is None:
        return replace(state, expected="trumps")
    return _after_trumps_stated(state)


def automatic_events(state: Declaring, moment: Moment) -> tuple[Event, ...]:
    """Return the result of the comparison after all have spoken; else no event (E24)."""
    if state.to_speak:
        return ()
    return (SequencesCompared(seat=None if state.best is None else state.best.seat, level=state.level),)


def sequences_compared(state: Declaring, event: SequencesCompared, number: int) -> Playing:
    """Return the start of the play, in which forehand leads (E28)."""
    table = state.table
    none = (0,) * table.seats
    return Playing(
        table=table,
        cards=state.cards,
        contract=state.contract,
        sequences=Sequences(best=state.best, level=event.level, refrained=state.refrained),
        turn=table.forehand,
        tricks=none,
        card_points=none,
        bella=state.bella,
        may_add=state.may_add,
        played=() if state.cards.known else none,
    )


def declare_in_play(state: Playing, act: Declare, moment: Moment) -> tuple[Event, ...]:
    """Return the event of an addition before the lead, or of a closed hand's sequence shown (E23, E-O34).

    Raises: WrongPhase for other statements, AgainstTheRules if the seat may not show these cards or they form no
    sequence, NoSuchCard for a card that the hand cannot have.
    """
    if not state.trick and not state.won and _is_addition(state, act):
        return (SequenceDeclared(seat=act.seat, trumps=False),)
    if act.cards is None or (act.sequence, act.top, act.trumps) != (None, None, None):
        raise WrongPhase("declarations_over", "E19")
    if state.cards.known:
        raise AgainstTheRules("cards_known", "E-O34")
    if not may_show(state, act.seat):
        raise AgainstTheRules("nothing_to_show", "E-O34")
    cards = cards_of(act.cards)
    if cards.bit_count() != len(act.cards) or not is_sequence(cards):
        raise AgainstTheRules("no_sequence", "E15")
    others = sum(shown for seat, shown, _ in state.sequences.shown if seat != act.seat)
    own = sum(shown for seat, shown, _ in state.sequences.shown if seat == act.seat)
    if cards & ~(state.hand(act.seat) | state.played[act.seat]) or cards & others:
        raise NoSuchCard("card_seen", "E2")
    if cards & own:
        raise AgainstTheRules("already_shown", "E-O10")
    return (SequenceShown(seat=act.seat, cards=act.cards),)


def may_show(state: Playing, seat: int) -> bool:
    """Return whether a closed hand may show sequences: it scores them, and trick two has not begun (E-O34)."""
    if state.cards.known or (state.won and (state.trick or len(state.won) > 1)):
        return False
    return seat in sequence_scorers(state.table, state.contract.declarer, state.sequences)


def sequence_scorers(table: Table, declarer: int, said: Sequences) -> tuple[int, ...]:
    """Return the seats that score sequences, the best first; none if cancelled (E24, E53, E-O12, E-O25, E-O35)."""
    if said.best is None:
        return ()
    first = said.best.seat
    side = seats_on_side(table, declarer, first)
    if any(seat not in side for seat in said.level) and table.options.equal_sequences != "forehand":
        return ()
    return (first, *(seat for seat in side if seat != first and seat not in said.refrained))


def seats_on_side(table: Table, declarer: int, seat: int) -> tuple[int, ...]:
    """Return ``seat`` and the seats whose sequences count with its own (E49, E53, E-O25)."""
    if table.seats == 4:
        return seat, (seat + 2) % 4
    opponents = table.opponents(declarer)
    if table.seats == 3 and table.options.three_player_side_sequences and seat in opponents:
        return opponents
    return (seat,)


def sequence_shown(state: Playing, event: SequenceShown, number: int) -> Playing:
    shown = (*state.sequences.shown, (event.seat, cards_of(event.cards), number))
    return replace(state, sequences=replace(state.sequences, shown=shown))


def bella(state: Declaring | Playing, act: Bella, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a declaration of bella. Raises what :func:`bella_refusal` returns (E18, E26-E27)."""
    if (refusal := bella_refusal(state, act.seat)) is not None:
        raise refusal
    return (BellaDeclared(seat=act.seat),)


def bella_refusal(state: Declaring | Playing, seat: int) -> Refused | None:
    """Return the refusal of a repeated, late or false declaration of bella; None if allowed."""
    pair = BELLA[state.contract.trumps]
    if any(seat == other for other, _ in state.bella):
        return AgainstTheRules("bella_declared", "E26")
    cards = state.cards.hands[seat]
    if isinstance(state, Playing):
        if not state.cards.known:
            cards &= ~state.gone | state.played[seat]
        if cards & pair == pair and not _bella_in_time(state, pair):
            strict = state.table.options.bella_deadline == "first_card"
            return AgainstTheRules("bella_after_first_card" if strict else "bella_too_late", "E27")
    return AgainstTheRules("no_bella", "E18") if cards & pair != pair else None


def may_declare_bella(state: Declaring | Playing, seat: int) -> bool:
    pair = BELLA[state.contract.trumps]
    return state.cards.hands[seat] & pair == pair and bella_refusal(state, seat) is None


def _bella_in_time(state: Playing, pair: int) -> bool:
    """Return whether bella can still be declared (E27, E-O15, E-O39)."""
    gone = pair & state.gone
    if not gone:
        return True
    if state.table.options.bella_deadline == "first_card":
        return gone != pair and bool(state.trick) and BIT[state.trick[-1][1]] == gone
    return gone != pair or any(BIT[card] & pair for _, card in state.trick)


def bella_declared(state: Declaring | Playing, event: BellaDeclared, number: int) -> Declaring | Playing:
    return replace(state, bella=(*state.bella, (event.seat, number)))
