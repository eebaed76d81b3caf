"""The verifiable shuffle: the house commits to a seed before each deal, and then each seat may add digits (J13).

So neither the house nor a seat can choose the cards. ``openapi/guides/shuffle.md`` describes the calculation.
"""

import re
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from referee.acts import Deal, Entropy
from referee.events import DEAL_ENDS, Dealt, MatchOpened
from referee.officials.events.shuffle import EntropyGiven, ShuffleCommitted
from referee.officials.state import AttendedState, Commitment, Docket, DocketUpdates, Shuffle
from referee.phases import Over
from referee.refusals import WrongPhase
from referee.ruleset import Moment, Ruleset
from referee.visibility import Event

_SEED = re.compile("[0-9a-f]{64}")


def shuffle_of(opened: MatchOpened) -> Shuffle | None:
    """Return the shuffle of a new match; ``None`` if the house does not commit to seeds."""
    return None if opened.shuffle is None else Shuffle(seconds=opened.entropy_seconds)


def seed_of(seed: str) -> str:
    """Return a seed of 64 hexadecimal digits unchanged, and any other seed as its SHA-256."""
    return seed if _SEED.fullmatch(seed) else _hash(seed)


def shuffle_key(moment: Moment, commitment: Commitment) -> str:
    """Return the 64 hexadecimal digits that decide the order of the cards."""
    parts = "knacka shuffle 2", str(moment.match), str(moment.version), commitment.seed, *commitment.entropy
    return _hash("\n".join(parts))


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def seats_to_add(state: AttendedState) -> tuple[int, ...]:
    """Return the seats that can still add digits to the shuffle of the next deal."""
    commitment = _commitment(state)
    if commitment is None or commitment.dealt or isinstance(state.play, Over):
        return ()
    return tuple(seat for seat in state.play.table.playing if not commitment.entropy[seat])


def _commitment(state: AttendedState) -> Commitment | None:
    shuffle = state.docket.shuffle
    return None if shuffle is None else shuffle.commitment


def add_entropy(rules: Ruleset, state: AttendedState, act: Entropy, moment: Moment) -> tuple[Event, ...]:
    """Return the event of the digits that a seat adds to the shuffle (J13).

    Raises WrongPhase if the cards are dealt or the seat has added digits already, and the game's refusals.
    """
    commitment = _commitment(state)
    if commitment is None:
        return rules.take(state.play, act, moment)[0]
    with suppress(WrongPhase):
        rules.take(state.play, act, moment)  # no game has this act, but each refuses a seat that may not act at all
    if commitment.dealt:
        raise WrongPhase("entropy_too_late", None)
    if commitment.entropy[act.seat]:
        raise WrongPhase("entropy_given", None)
    return (EntropyGiven(seat=act.seat, hex=act.hex),)


def after_entropy(rules: Ruleset, state: AttendedState, event: EntropyGiven, number: int) -> AttendedState:
    commitment = _commitment(state)
    assert commitment is not None, "a seat adds to a commitment"
    entropy = list(commitment.entropy)
    entropy[event.seat] = event.hex
    return replace(state, docket=_with_commitment(state.docket, replace(commitment, entropy=tuple(entropy))))


def commit(rules: Ruleset, state: AttendedState, moment: Moment) -> tuple[ShuffleCommitted, ...]:
    """Return the event of a new commitment; empty if none is needed."""
    shuffle = state.docket.shuffle
    if shuffle is None or shuffle.commitment is not None or isinstance(state.play, Over):
        return ()
    seed = seed_of(moment.seed)
    until = moment.at + timedelta(seconds=shuffle.seconds) if shuffle.seconds else None
    return (ShuffleCommitted(commitment=_hash(seed), seed=seed, until=until),)


def after_commitment(rules: Ruleset, state: AttendedState, event: ShuffleCommitted, number: int) -> AttendedState:
    nothing = ("",) * state.play.table.seats
    commitment = Commitment(seed=event.seed, hash=event.commitment, until=event.until, entropy=nothing)
    return replace(state, docket=_with_commitment(state.docket, commitment))


def with_seed(rules: Ruleset, state: AttendedState, request: Any, moment: Moment) -> Moment:
    """Return the moment with the seed by which the house deals or draws; unchanged without a commitment.

    Raises WrongPhase for the dealer's request to deal while a seat without digits has time to add them.
    """
    commitment = _commitment(state)
    if commitment is None:
        return moment
    if isinstance(request, Deal) and request.seat == state.play.table.dealer:  # because the game refuses other seats
        until = commitment.until
        if until is not None and moment.at < until and (missing := seats_to_add(state)):
            raise WrongPhase("entropy_awaited", None, awaited=missing, until=until)
    return replace(moment, seed=f"2:{moment.version}:{shuffle_key(moment, commitment)}")


def _mark_dealt(docket: Docket, play: Any, event: Dealt, number: int) -> Docket:
    shuffle = docket.shuffle
    if shuffle is None or shuffle.commitment is None:
        return docket
    return _with_commitment(docket, replace(shuffle.commitment, dealt=True))


def _drop_commitment(docket: Docket, play: Any, event: Event, number: int) -> Docket:
    shuffle = docket.shuffle
    return docket if shuffle is None or shuffle.commitment is None else _with_commitment(docket, None)


DOCKET_UPDATES: DocketUpdates = {
    Dealt: _mark_dealt,
    **dict.fromkeys(DEAL_ENDS, _drop_commitment),
}


def _with_commitment(docket: Docket, commitment: Commitment | None) -> Docket:
    assert docket.shuffle is not None, "in this match the house commits to the shuffle"
    return replace(docket, shuffle=replace(docket.shuffle, commitment=commitment))
