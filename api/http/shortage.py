"""Recognises errors of a machine that temporarily lacks file descriptors or memory."""

import errno

LACKING = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS))


def is_shortage(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in LACKING)
