"""The command line of the benchmark: ``python -m tools.bench`` (or ``./run test --bench``)."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from copycost.errors import CopycostError
from copycost.hosts.facts.identity import host_identity
from tools.bench.arguments import PARTS, parse
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


_PARTS: dict[str, Callable[[argparse.Namespace], Iterator[Row]]] = {
    "workflow": _workflow,
    "streams": _streams,
    "round_trips": _round_trips,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, or 1 if a part of it could not be measured.

    A limit that is missed is shown, and is no error: on a loaded or small host it may well be.
    """
    options = parse(arguments)
    rows: list[Row] = []
    complete = True
    for part in (part for part in PARTS if part in options.only):
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


if __name__ == "__main__":
    sys.exit(main())
