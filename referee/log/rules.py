"""What is put on record of the log: checkpoints, each larger than the one before."""

from referee.log.facts import LogOpened, LogSigned, Sign
from referee.log.notes import checkpoint_in
from referee.ruleset import Moment
from referee.value import Value
from referee.visibility import Event


class Signed(Value):
    """How far the log is signed: the last checkpoint, or none."""

    last: LogSigned | None = None


class LogRules:
    """Signing is by no rule of a game: who signs has looked, and what does not follow is a fault of ours."""

    state = Signed

    def start(self, opened: LogOpened) -> Signed:
        """Nothing is signed yet."""
        return Signed()

    def begin(self, state: Signed, moment: Moment) -> tuple[Event, ...]:
        """Nothing."""
        return ()

    def take(self, state: Signed, request: Sign, moment: Moment) -> tuple[tuple[Event, ...], Signed]:
        """The checkpoint, which has to be larger than the last."""
        checkpoint = checkpoint_in(request.note)
        assert state.last is None or checkpoint.size > state.last.size, "a log only grows"
        event = LogSigned(size=checkpoint.size, root=checkpoint.root.hex(), note=request.note)
        return (event,), self.evolve(state, event, moment.version + 1)

    def evolve(self, state: Signed, event: LogSigned, number: int) -> Signed:
        """The last one counts."""
        return Signed(last=event)


RULES = LogRules()
