"""Runs ``knacka`` (``python -m api``).

The garbage collector ignores the imported objects: scanning them takes a quarter of the time of a short command.
"""

import gc
import sys


def main() -> int:
    """Return the exit code."""
    gc.disable()
    from api.cli import main as command

    gc.freeze()
    gc.enable()
    return command()


if __name__ == "__main__":
    sys.exit(main())
