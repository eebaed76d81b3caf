"""The event store: rows, the aggregates folded from them, and the desk that stores them."""

import msgspec

from referee.games import RULESETS
from referee.store.aggregate import KINDS, STORED_BESIDE
from referee.store.attempts import AttemptRefused
from referee.store.club import Club
from referee.store.log import Log
from referee.store.match import Match
from referee.store.rows import prepare_decoders

KINDS |= {kind.OPENING.TOPIC: kind for kind in (Match, Club, Log)}
STORED_BESIDE.append(AttemptRefused)

# msgspec prepares a type at its first decoding. Two threads that do this at once crash the process, so all types are
# prepared before a second thread exists.
prepare_decoders()
for kind in (Match, Club, Log, *(part for rules in RULESETS.values() for part in (rules.state, rules.options))):
    msgspec.json.Decoder(kind)
