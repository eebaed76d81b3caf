"""Makes log records even if Python cannot represent the time of the machine's clock."""

import logging
from copy import copy
from typing import Any

_UNDATED = logging.LogRecord("", logging.NOTSET, "", 0, "", (), None)
_UNDATED.created = _UNDATED.msecs = 0.0
_FIELDS = ("name", "levelno", "pathname", "lineno", "msg", "args", "exc_info", "funcName", "stack_info")
"""Attributes of a record, in the order of its arguments."""


def make_record(*fields: Any) -> logging.LogRecord:
    """Return a log record, dated 1970 if Python cannot represent its time."""
    try:
        record = logging.LogRecord(*fields)
    except OverflowError:
        record = copy(_UNDATED)
        record.__dict__ |= dict(zip(_FIELDS, fields, strict=False)) | {"levelname": logging.getLevelName(fields[1])}
    return record


def survive_any_clock() -> None:
    logging.setLogRecordFactory(make_record)
