"""Runs ``knacka`` (``python -m api``).

The garbage collector ignores the imported objects, which makes short commands faster."""

import gc
import sys


def main() -> int:
    gc.disable()
    from api.cli import main as command

    gc.freeze()
    gc.enable()
    return command()


if __name__ == "__main__":
    sys.exit(main())
