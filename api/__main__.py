"""Runs ``knacka`` (``python -m api``): imports the modules, then runs the command.

The garbage collector is off during the imports and ignores the imported objects afterwards. Scanning them repeatedly
took a quarter of the time of a short command.
"""

import gc
import sys


def main() -> int:
    """Run the command and return its exit code."""
    gc.disable()
    from api.cli import main as command

    gc.freeze()
    gc.enable()
    return command()


if __name__ == "__main__":
    sys.exit(main())
