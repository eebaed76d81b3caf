"""``python -m api``, which is what ``knacka`` runs: imports all of it, then does what the command line says.

The garbage collector is off meanwhile, and passes over what was imported for good: it would look through all of that
again and again, and once more in the end, to find that it stays. That took a quarter of the time of a short command.
"""

import gc
import sys


def main() -> int:
    """The command line."""
    gc.disable()
    from api.cli import main as command

    gc.freeze()
    gc.enable()
    return command()


if __name__ == "__main__":
    sys.exit(main())
