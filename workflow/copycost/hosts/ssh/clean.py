"""Remove what was brought to another machine: ``python -m copycost.hosts.ssh.clean USER@OTHER``."""

import argparse
import sys
from collections.abc import Sequence

from copycost.errors import CopycostError
from copycost.hosts.ssh.client import SshTarget
from copycost.hosts.ssh.line import clean


def main(arguments: Sequence[str] | None = None) -> int:
    """Remove it and say so; 1 after a sentence about what is in the way."""
    parser = argparse.ArgumentParser(
        prog="./run wire-clean", description="Remove what copycost brought to another machine."
    )
    parser.add_argument("peer", metavar="USER@OTHER", help="the machine, as ssh is told it")
    options = parser.parse_args(arguments)
    try:
        clean(SshTarget(options.peer))
    except CopycostError as error:
        print(f"copycost: {error}", file=sys.stderr)
        return 1
    print(f"copycost: nothing of it is left on {options.peer}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
