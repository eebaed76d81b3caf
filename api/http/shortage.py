"""A machine without free file descriptors or memory: the call could not be done, and the code is not at fault."""

import errno

LACKING = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS))
"""Errors of the operating system that pass as soon as something is free again."""


def is_shortage(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in LACKING)
