"""Remove what was brought to another machine: ``python -m copycost.hosts.ssh.clean USER@OTHER``."""

import argparse
import sys
from collections.abc import Sequence

from copycost.config.peers import read_peer
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
        peer = read_peer(options.peer, _say)
        clean(SshTarget(peer.peer, peer.ssh_options))
    except CopycostError as error:
        _say(str(error))
        return 1
    print(f"copycost: nothing of it is left on {options.peer}")
    return 0


def _say(sentence: str) -> None:
    print(f"copycost: {sentence}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
