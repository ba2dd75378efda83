"""The command ``compare``: the results of two runs, or several of either side, in; a report out."""

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path

from copycost.compare.runs.facts import compare_runs
from copycost.compare.runs.gates import parse_gate
from copycost.compare.runs.results import read_results
from copycost.compare.runs.verdicts import MEASURED_SPREAD, RunSpread
from copycost.errors import ConfigError
from copycost.report.typeset import FORMATS
from copycost.wording.words import plural

EXIT_GATE = 4
EXIT_CANNOT_TELL = 5
OUTPUT = Path("results_compare")

HELP = "compare two runs, or several of either side"

DESCRIPTION = """\
Compare two runs: kernels, machines, releases, before and after a patch. A is what it was, B is
what it is; every ratio is B over A, in the cells that both have. Name results/ or the folder that
it lies in."""

EPILOG = """\
What is independent: of one run a side, its rounds (Welch's test on logarithms), allowing for what
--run-spread states; of several runs a side, the runs (Student's t, one spread for both sides): at
least three each, measured in turn, need no such assumption.

--fail-if slower:N%    throughput lower, costlier:N% CPU time per byte higher, longer:N% median
round trips longer by more than N per cent. It fails only where that is shown: the 95 % interval
lies wholly beyond N, of the geometric mean over all cells (unless some cells stand above 1 and
others below), or of any cell, widened so that those of all cells hold together (Bonferroni).
Where a change of N per cent of that mean could not have been shown, nor is ruled out, it says that
it cannot tell; where some cells stand above 1 and others below, the same holds of any cell's.

Exit status: 0 compared, 4 what --fail-if names was shown, 5 it could not have been shown, 1 an
error, 2 wrong usage."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    add = parser.add_argument
    add("runs", type=Path, nargs="+", metavar="RESULTS",
        help="A and B; or with --with all runs of A")  # fmt: skip
    add("--with", type=Path, nargs="+", dest="others", metavar="RESULTS", help="all runs of B")
    add("--output", type=Path, default=OUTPUT, metavar="FOLDER", help=f"default: {OUTPUT}")
    add("--formats", nargs="+", choices=FORMATS, default=list(FORMATS), help="default: both")
    add("--json", action="store_true", help="print facts.json, and write no report")
    add("--fail-if", type=parse_gate, nargs="+", default=[], metavar="WORD:N%",
        help="slower, costlier or longer by more than N per cent: see below")  # fmt: skip
    add("--run-spread", type=_percent, nargs=2, metavar=("CELL", "WHOLE"),
        help="what single runs of the same thing differ by beyond their rounds, as standard"
        " deviations of a cell and of the mean of all cells, such as 3%% 1%%; a comparison of"
        " several runs a side prints it"
        " (default: as in docs/between_runs.md)")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Compare, print what was found and write the report; return the exit code."""
    folders_a, folders_b = _sides(options.runs, options.others)
    a, b = ([read_results(folder) for folder in side] for side in (folders_a, folders_b))
    stated = None
    if options.run_spread:
        cell, whole = options.run_spread
        stated = RunSpread(cell, whole, MEASURED_SPREAD.freedom)
    facts = compare_runs(a, b, stated, options.fail_if)
    if options.json:
        print(json.dumps(facts, indent=1, ensure_ascii=False))
    else:
        # Imported here: what is wrong with a folder is said before figures and typesetting load.
        from copycost.compare.runs.report import summary_lines, write_report

        print("\n".join(summary_lines(facts)))
        for path in write_report(facts, options.output, options.formats):
            print(f"report: {path}")
    gates = facts["gates"]
    if any(gate["fails"] for gate in gates):
        return EXIT_GATE
    return EXIT_CANNOT_TELL if any(gate["cannot_tell"] for gate in gates) else 0


def _sides(runs: Sequence[Path], others: Sequence[Path] | None) -> tuple[list[Path], list[Path]]:
    if others is None and len(runs) != 2:
        raise ConfigError(
            f"compare: {plural(len(runs), 'folder')} given; name two, A and B, "
            "or several of either side: A1 A2 A3 --with B1 B2 B3"
        )
    sides = (list(runs), list(others)) if others else ([runs[0]], [runs[1]])
    twice = [folder for folder in sides[0] if folder.resolve() in [b.resolve() for b in sides[1]]]
    if twice or any(len({one.resolve() for one in side}) < len(side) for side in sides):
        raise ConfigError(
            f"compare: {twice[0] if twice else 'a folder'} is named twice; a run is compared with "
            "another one, and counts once"
        )
    return sides


def _percent(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)%?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text} is no spread, must be per cent, such as 3%")
    return float(match[1]) / 100.0
