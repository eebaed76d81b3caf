"""Log records that can be made while the clock of the machine cannot be read."""

import logging
from typing import Any

_TEMPLATE = logging.LogRecord("", logging.NOTSET, "", 0, "", (), None)


class Record(logging.LogRecord):
    """A record of 1970 if Python cannot hold the time. The error would end the thread that logs."""

    def __init__(
        self,
        name: str,
        level: int,
        pathname: str,
        lineno: int,
        msg: object,
        args: Any,
        exc_info: Any,
        func: str | None = None,
        sinfo: str | None = None,
        **more: Any,
    ) -> None:
        try:
            super().__init__(name, level, pathname, lineno, msg, args, exc_info, func, sinfo, **more)
        except OverflowError:
            self.__dict__ |= _TEMPLATE.__dict__ | {
                "name": name,
                "levelno": level,
                "levelname": logging.getLevelName(level),
                "pathname": pathname,
                "lineno": lineno,
                "funcName": func,
                "msg": msg,
                "args": args,
                "exc_info": exc_info,
                "stack_info": sinfo,
                "created": 0.0,
                "msecs": 0.0,
            }


def survive_any_clock() -> None:
    logging.setLogRecordFactory(Record)
