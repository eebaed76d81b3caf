"""The rules of the log: each checkpoint is larger than the previous one."""

from referee.log.facts import LogOpened, LogSigned, Sign
from referee.log.notes import checkpoint_in
from referee.ruleset import Moment
from referee.value import Value
from referee.visibility import Event


class Signed(Value):
    """The state of the log: its last checkpoint, if any."""

    last: LogSigned | None = None


class LogRules:
    """Decides which checkpoints are stored. An inconsistent checkpoint is a bug, not a refusal."""

    state = Signed

    def start(self, opened: LogOpened) -> Signed:
        return Signed()

    def begin(self, state: Signed, moment: Moment) -> tuple[Event, ...]:
        return ()

    def take(self, state: Signed, request: Sign, moment: Moment) -> tuple[tuple[Event, ...], Signed]:
        """Return the event of a checkpoint, and the state after it. Raises ``AssertionError`` unless the log grew."""
        checkpoint = checkpoint_in(request.note)
        assert state.last is None or checkpoint.size > state.last.size, "a log only grows"
        event = LogSigned(size=checkpoint.size, root=checkpoint.root.hex(), note=request.note)
        return (event,), self.evolve(state, event, moment.version + 1)

    def evolve(self, state: Signed, event: LogSigned, number: int) -> Signed:
        return Signed(last=event)


RULES = LogRules()
