"""Runs ``knacka`` (``python -m api``).

The garbage collector ignores the imported objects, because scanning them takes a quarter of a short command's time.
"""

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
