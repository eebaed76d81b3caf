"""The edge to the event store: rows, aggregates as folds of them, and the desk that commits."""

from referee.store.aggregate import KINDS
from referee.store.match import Match

KINDS |= {kind.OPENING.TOPIC: kind for kind in (Match,)}
