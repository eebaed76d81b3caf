"""Checks of a file by hledger, ledger and beancount: an empty text, or their errors."""

from beancount import loader

from tests.support import external_programs


def hledger(file: bytes) -> str:
    """Return the errors of a strict reading, which checks balance assertions and the order of dates."""
    return _said(file, "hledger", "-f", "-", "check", "--strict", "ordereddates")


def ledger(file: bytes) -> str:
    """Return the errors of a reading in which each undeclared name is one."""
    return _said(file, "ledger", "--pedantic", "-f", "-", "balance")


def beancount(file: bytes) -> str:
    """Return the errors that bean-check reports."""
    _, errors, _ = loader.load_string(file.decode())
    return "\n".join(error.message for error in errors)


def _said(file: bytes, program: str, *options: str) -> str:
    done = external_programs.run(program, *options, given=file)
    return f"exit {done.returncode}: {done.stderr.decode()}" if done.returncode or done.stderr else ""


JUDGES = {"hledger": ("hledger", hledger), "ledger": ("hledger", ledger), "beancount": ("beancount", beancount)}
"""The export that each program reads, and the check, by program."""
