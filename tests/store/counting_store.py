"""A real store that counts the rows of events which are read from it."""

from collections.abc import Sequence
from typing import Any

from eventsourcing.persistence import StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder

from referee.store.store import Referee


class Counting(Referee):
    """A real store that counts the rows of events which are read from it."""

    name = Referee.name
    rows_read = 0

    def construct_recorder(self) -> Any:
        recorder: Any = super().construct_recorder()

        def counted(select: Any) -> Any:
            def selected(*args: Any, **kwargs: Any) -> Sequence[StoredEvent]:
                rows: Sequence[StoredEvent] = select(*args, **kwargs)
                self.rows_read += len(rows)
                return rows

            return selected

        recorder.select_events = counted(recorder.select_events)
        if not isinstance(recorder, SQLiteApplicationRecorder):  # the library makes it from the one above
            recorder.select_newer = counted(recorder.select_newer)
        return recorder
