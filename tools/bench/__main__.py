"""The command line of the benchmark: ``python -m tools.bench`` (or ``./run test --bench``)."""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from copycost.errors import CopycostError
from copycost.hosts.facts.identity import host_identity
from tools.bench.arguments import PARTS, parse
from tools.bench.rows import Row, table_of, write_rows
from tools.bench.versus_other_tools import iperf_rows, open_bench, round_trip_rows
from tools.bench.workflow_runs import workflow_rows

_CONTESTS = {"streams": iperf_rows, "round_trips": round_trip_rows}


def _rows(part: str, options: argparse.Namespace) -> Iterator[Row]:
    if part == "workflow":
        yield from workflow_rows(quick=options.quick)
        return
    with (
        tempfile.TemporaryDirectory(prefix="copycost-bench-") as folder,
        open_bench(
            Path(folder),
            rounds=options.rounds,
            most_rounds=max(options.rounds, options.most_rounds),
            duration_s=options.seconds,
            seed=options.seed,
        ) as bench,
    ):
        yield from _CONTESTS[part](bench)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0, or 1 if a part of it could not be measured.

    A limit that is missed is shown, and is no error: on a loaded or small host it may well be.
    """
    options = parse(arguments)
    rows: list[Row] = []
    complete = True
    for part in (part for part in PARTS if part in options.only):
        try:
            for row in _rows(part, options):
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
