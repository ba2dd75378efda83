"""The options of the benchmark; no package is needed to look at them before anything is set up."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

PARTS = ("workflow", "streams", "round_trips")
"""`workflow` is first: without root, making a testbed moves this process into a user namespace."""


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options, or say what is wrong with them and end the process."""
    parser = argparse.ArgumentParser(
        prog="./run test --bench",
        description="How fast copycost itself is: its two_copy sender beside iperf3 on the same"
        " testbed in interleaved rounds, its round trips beside sockperf's, its workflow beside the"
        " clock. Takes 20 to 35 minutes, the more the longer it is open whether a limit is kept.",
    )
    add, shown = parser.add_argument, " (default: %(default)s)"
    add("--only", nargs="+", choices=PARTS, default=list(PARTS), help="parts (default: all)")
    add("--rounds", type=_positive, default=5, help=f"rounds{shown}")
    more = "rounds at most, where the first ones leave open whether a limit is kept"
    add("--most-rounds", type=_positive, default=20, help=more + shown)
    add("--seconds", type=_positive, default=2, help=f"window of a stream{shown}")
    add("--seed", type=int, default=1, help="of the order within a round")
    add("--quick", action="store_true", help="time the workflow on the tiny grid only")
    add("--output", type=Path, default="results/bench.json", help=f"the rows as JSON{shown}")
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"got {text}, must be 1 or more")
    return number


if __name__ == "__main__":
    parse(sys.argv[1:])
