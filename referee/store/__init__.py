"""The edge to the event store: rows, aggregates as folds of them, and the desk that commits."""

import msgspec

from referee.games import RULESETS
from referee.store.aggregate import BESIDE, KINDS
from referee.store.attempts import AttemptRefused
from referee.store.club import Club
from referee.store.log import Log
from referee.store.match import Match
from referee.store.rows import make_ready

KINDS |= {kind.OPENING.TOPIC: kind for kind in (Match, Club, Log)}
BESIDE.append(AttemptRefused)

# When something is first read into a type msgspec makes the type ready, and two threads that do so at once end the
# process. So all that is read from the store is made ready here, before there is a second thread.
make_ready()
for kind in (Match, Club, Log, *(part for rules in RULESETS.values() for part in (rules.state, rules.options))):
    msgspec.json.Decoder(kind)
