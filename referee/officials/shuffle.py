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
from referee.officials.state import Commitment, Docket, Shuffle, Standing
from referee.phases import Over
from referee.refusals import WrongPhase
from referee.ruleset import Moment, Ruleset
from referee.visibility import Event

_SEED = re.compile("[0-9a-f]{64}")


def begun(opened: MatchOpened) -> Shuffle | None:
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


def awaited(standing: Standing) -> tuple[int, ...]:
    """The seats that may still add to the shuffle of the deal that comes: those that take part in it."""
    commitment = _commitment(standing)
    if commitment is None or commitment.dealt or isinstance(standing.play, Over):
        return ()
    return tuple(seat for seat in standing.play.table.playing if not commitment.entropy[seat])


def _commitment(standing: Standing) -> Commitment | None:
    shuffle = standing.docket.shuffle
    return None if shuffle is None else shuffle.commitment


# What a seat adds


def give(rules: Ruleset, standing: Standing, act: Entropy, moment: Moment) -> tuple[Event, ...]:
    """J13: a seat adds to the shuffle, once before each deal; all see it at once."""
    commitment = _commitment(standing)
    if commitment is None:
        return rules.take(standing.play, act, moment)[0]  # which refuses it, as in a match without officials
    with suppress(WrongPhase):
        rules.take(standing.play, act, moment)  # no game has this act; who may do nothing at all is refused first
    if commitment.dealt:
        raise WrongPhase("entropy_too_late", None)
    if commitment.entropy[act.seat]:
        raise WrongPhase("entropy_given", None)
    return (EntropyGiven(seat=act.seat, hex=act.hex),)


def given(rules: Ruleset, standing: Standing, event: EntropyGiven, number: int) -> Standing:
    """The match after that."""
    commitment = _commitment(standing)
    assert commitment is not None, "it is added to a commitment"
    entropy = list(commitment.entropy)
    entropy[event.seat] = event.hex
    return _with(standing, replace(commitment, entropy=tuple(entropy)))


# What the house does


def commit(rules: Ruleset, standing: Standing, moment: Moment) -> tuple[ShuffleCommitted, ...]:
    """Before each deal, and anew after one that was voided: its seed lies open."""
    shuffle = standing.docket.shuffle
    if shuffle is None or shuffle.commitment is not None or isinstance(standing.play, Over):
        return ()
    seed = seed_of(moment.seed)
    until = moment.at + timedelta(seconds=shuffle.seconds) if shuffle.seconds else None
    return (ShuffleCommitted(commitment=_hash(seed), seed=seed, until=until),)


def committed(rules: Ruleset, standing: Standing, event: ShuffleCommitted, number: int) -> Standing:
    """The match after that."""
    nothing = ("",) * standing.play.table.seats
    return _with(standing, Commitment(seed=event.seed, hash=event.commitment, until=event.until, entropy=nothing))


def chance(rules: Ruleset, standing: Standing, request: Any, moment: Moment) -> Moment:
    """With the seed by which the house draws lots. A deal waits for all who take part in it, or until the time for
    that has passed."""
    commitment = _commitment(standing)
    if commitment is None:
        return moment
    if isinstance(request, Deal) and request.seat == standing.play.table.dealer:  # of others the game says more
        until = commitment.until
        if until is not None and moment.at < until and (missing := awaited(standing)):
            raise WrongPhase("entropy_awaited", None, awaited=missing, until=until)
    return replace(moment, seed=f"2:{moment.version}:{key_of(moment, commitment)}")


def noted(standing: Standing, event: Event, number: int) -> Docket:
    """The docket after an event of the game: when the cards are out nothing is added any more, and a seed that lies
    open is of no more use."""
    commitment = _commitment(standing)
    if commitment is None:
        return standing.docket
    if type(event) in LAYS_OPEN:
        return _with(standing, None).docket
    return _with(standing, replace(commitment, dealt=True)).docket if isinstance(event, Dealt) else standing.docket


def _with(standing: Standing, commitment: Commitment | None) -> Standing:
    docket = standing.docket
    assert docket.shuffle is not None, "in this match the house commits to the shuffle"
    return replace(standing, docket=replace(docket, shuffle=replace(docket.shuffle, commitment=commitment)))
