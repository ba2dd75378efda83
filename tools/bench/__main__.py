"""The command line of the benchmark: ``python -m tools.bench`` (or ``./run bench``)."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from copycost.errors import CopycostError
from copycost.hosts.facts.identity import host_identity
from tools.bench.bench import Bench, open_bench
from tools.bench.round_trips import round_trip_rows
from tools.bench.rows import Row, table_of, write_rows
from tools.bench.streaming import harness_rows, iperf_rows
from tools.bench.workflow_runs import PROJECT, workflow_rows


@contextmanager
def _bench(options: argparse.Namespace) -> Iterator[Bench]:
    with (
        tempfile.TemporaryDirectory(prefix="copycost-bench-") as folder,
        open_bench(
            Path(folder),
            PROJECT,
            rounds=options.rounds,
            most_rounds=max(options.rounds, options.most_rounds),
            duration_s=options.seconds,
            seed=options.seed,
        ) as bench,
    ):
        yield bench


def _streams(options: argparse.Namespace) -> Iterator[Row]:
    with _bench(options) as bench:
        yield from iperf_rows(bench)
        yield from harness_rows(bench)


def _round_trips(options: argparse.Namespace) -> Iterator[Row]:
    with _bench(options) as bench:
        yield from round_trip_rows(bench)


def _workflow(options: argparse.Namespace) -> Iterator[Row]:
    return workflow_rows(quick=options.quick)


# `workflow` is first: without root, making a testbed moves this process into a user namespace.
_PARTS: dict[str, Callable[[argparse.Namespace], Iterator[Row]]] = {
    "workflow": _workflow,
    "streams": _streams,
    "round_trips": _round_trips,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, or 1 if a part of it could not be measured.

    A limit that is missed is shown, and is no error: on a loaded or small host it may well be.
    """
    parser = argparse.ArgumentParser(
        prog="./run bench",
        description="How fast copycost itself is: its two_copy sender beside iperf3 on the same"
        " testbed in interleaved rounds, its round trips beside sockperf's, its workflow beside the"
        " clock. Takes about 20 minutes, and up to 15 more where first rounds leave open whether a"
        " limit is kept.",
    )
    parser.add_argument(
        "--only", nargs="+", choices=list(_PARTS), default=list(_PARTS), help="parts (default: all)"
    )
    parser.add_argument("--rounds", type=_positive, default=5, help="rounds (default: %(default)s)")
    parser.add_argument(
        "--most-rounds",
        type=_positive,
        default=20,
        help="rounds at most, where the first ones leave open whether a limit is kept"
        " (default: %(default)s)",
    )
    parser.add_argument(
        "--seconds", type=_positive, default=2, help="window of a stream (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the order within a round")
    parser.add_argument(
        "--quick", action="store_true", help="time the workflow on the tiny grid only"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("results/bench.json"),
        help="the rows as JSON (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    complete = True
    for part in (part for part in _PARTS if part in options.only):
        try:
            for row in _PARTS[part](options):
                print(f"bench: measured {row.name}", file=sys.stderr, flush=True)
                rows.append(row)
        except CopycostError as error:
            complete = False
            print(f"bench: {part}: {error}", file=sys.stderr)
            rows.append(Row(part, "the rest of it", None, "", n=0, note=str(error).split("\n")[0]))
    write_rows(rows, host_identity(), options.output)
    print(table_of(rows))
    print(f"bench: the same as JSON is in {options.output}")
    return 0 if complete else 1


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"got {text}, must be 1 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())
