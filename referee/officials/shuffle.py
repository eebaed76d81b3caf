"""The shuffle that can be checked: the house commits to a seed before each deal, and each seat adds something to it.

Neither the house nor a seat can then choose the cards: the house has committed to its part before it knows theirs,
and they give theirs before they know its. Whatever else the house draws by lot hangs on the same seed.
``openapi/guides/shuffle.md`` says how it is computed, and ``openapi/shuffle.py`` computes it for anybody.
"""

import re
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from referee.acts import Deal, Entropy
from referee.events import LAYS_OPEN, Dealt, MatchOpened
from referee.officials.events.shuffle import EntropyGiven, ShuffleCommitted
from referee.officials.state import AttendedState, Commitment, Docket, Shuffle
from referee.phases import Over
from referee.refusals import WrongPhase
from referee.ruleset import Moment, Ruleset
from referee.visibility import Event

_SEED = re.compile("[0-9a-f]{64}")


def shuffle_of(opened: MatchOpened) -> Shuffle | None:
    """What is kept of the shuffle of a match just opened."""
    return None if opened.shuffle is None else Shuffle(seconds=opened.entropy_seconds)


def seed_of(seed: str) -> str:
    """The seed to commit to, in 64 hexadecimal digits; of one that has been committed to itself, so that a match can
    be decided again from what it told."""
    return seed if _SEED.fullmatch(seed) else _hash(seed)


def key_of(moment: Moment, commitment: Commitment) -> str:
    """What the order of the cards comes from, in 64 hexadecimal digits."""
    said = "knacka shuffle 2", str(moment.match), str(moment.version), commitment.seed, *commitment.entropy
    return _hash("\n".join(said))


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def awaited(state: AttendedState) -> tuple[int, ...]:
    """The seats that may still add to the shuffle of the deal that comes: those that take part in it."""
    commitment = _commitment(state)
    if commitment is None or commitment.dealt or isinstance(state.play, Over):
        return ()
    return tuple(seat for seat in state.play.table.playing if not commitment.entropy[seat])


def _commitment(state: AttendedState) -> Commitment | None:
    shuffle = state.docket.shuffle
    return None if shuffle is None else shuffle.commitment


# What a seat adds


def give(rules: Ruleset, state: AttendedState, act: Entropy, moment: Moment) -> tuple[Event, ...]:
    """J13: a seat adds to the shuffle, once before each deal; all see it at once."""
    commitment = _commitment(state)
    if commitment is None:
        return rules.take(state.play, act, moment)[0]  # which refuses it, as in a match without officials
    with suppress(WrongPhase):
        rules.take(state.play, act, moment)  # no game has this act; who may do nothing at all is refused first
    if commitment.dealt:
        raise WrongPhase("entropy_too_late", None)
    if commitment.entropy[act.seat]:
        raise WrongPhase("entropy_given", None)
    return (EntropyGiven(seat=act.seat, hex=act.hex),)


def after_entropy(rules: Ruleset, state: AttendedState, event: EntropyGiven, number: int) -> AttendedState:
    """The match after that."""
    commitment = _commitment(state)
    assert commitment is not None, "it is added to a commitment"
    entropy = list(commitment.entropy)
    entropy[event.seat] = event.hex
    return _with_commitment(state, replace(commitment, entropy=tuple(entropy)))


# What the house does


def commit(rules: Ruleset, state: AttendedState, moment: Moment) -> tuple[ShuffleCommitted, ...]:
    """Before each deal, and anew after one that was voided: its seed lies open."""
    shuffle = state.docket.shuffle
    if shuffle is None or shuffle.commitment is not None or isinstance(state.play, Over):
        return ()
    seed = seed_of(moment.seed)
    until = moment.at + timedelta(seconds=shuffle.seconds) if shuffle.seconds else None
    return (ShuffleCommitted(commitment=_hash(seed), seed=seed, until=until),)


def after_commitment(rules: Ruleset, state: AttendedState, event: ShuffleCommitted, number: int) -> AttendedState:
    """The match after that."""
    nothing = ("",) * state.play.table.seats
    return _with_commitment(
        state, Commitment(seed=event.seed, hash=event.commitment, until=event.until, entropy=nothing)
    )


def with_seed(rules: Ruleset, state: AttendedState, request: Any, moment: Moment) -> Moment:
    """With the seed by which the house draws lots. A deal waits for all who take part in it, or until the time for
    that has passed."""
    commitment = _commitment(state)
    if commitment is None:
        return moment
    if isinstance(request, Deal) and request.seat == state.play.table.dealer:  # of others the game says more
        until = commitment.until
        if until is not None and moment.at < until and (missing := awaited(state)):
            raise WrongPhase("entropy_awaited", None, awaited=missing, until=until)
    return replace(moment, seed=f"2:{moment.version}:{key_of(moment, commitment)}")


def note(state: AttendedState, event: Event, number: int) -> Docket:
    """The docket after an event of the game: when the cards are out nothing is added any more, and a seed that lies
    open is of no more use."""
    commitment = _commitment(state)
    if commitment is None:
        return state.docket
    if type(event) in LAYS_OPEN:
        return _with_commitment(state, None).docket
    return (
        _with_commitment(state, replace(commitment, dealt=True)).docket if isinstance(event, Dealt) else state.docket
    )


def _with_commitment(state: AttendedState, commitment: Commitment | None) -> AttendedState:
    docket = state.docket
    assert docket.shuffle is not None, "in this match the house commits to the shuffle"
    return replace(state, docket=replace(docket, shuffle=replace(docket.shuffle, commitment=commitment)))
