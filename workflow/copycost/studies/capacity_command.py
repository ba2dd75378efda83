"""The command ``plan``: how much CPU a bitrate takes on this host, from what was measured."""

import argparse
import json
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from copycost.errors import DataError
from copycost.studies.capacity import (
    Need,
    best_known,
    least_of,
    needs_of_cells,
    needs_of_curves,
)
from copycost.wording.numbers import format_size, size_option
from copycost.wording.words import plural

HELP = "say how much CPU a bitrate takes on this host"

DESCRIPTION = """\
Say how many CPUs of sender and receiver a bitrate takes on this host, for every way and testbed
measured: from the cost per byte at full speed, or from ./run cpu_budget where that measured the
bitrate itself."""

EPILOG = "Exit status: 0 answered, 1 beyond what was measured, or nothing measured."

RESULTS = Path("results")
WIDTH = 80
_TITLES = ("condition", "way", "size", "threads", "CPUs", "sender", "most", "from")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add = parser.add_argument
    add("--gbps", type=_bitrate, required=True, metavar="N", help="bitrate [10^9 bit/s]")
    add("--testbed", help="veth, sink, ..., or a condition such as sink_cold")
    add("--implementation", metavar="WAY", help="two_copy, zero_copy, ..., iperf3")
    add("--size", type=size_option, metavar="BYTES", help="message size, such as 64KiB")
    add("--threads", "--streams", type=int, metavar="N", help="threads per side, that is, streams")
    add("--all", action="store_true", help="every size and number of threads, not the cheapest")
    add("--json", action="store_true", help="print the rows as JSON")
    add("--results", type=Path, default=RESULTS, metavar="FOLDER", help=f"default: {RESULTS}")


def _bitrate(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value > 0.0 or math.isinf(value):
        raise argparse.ArgumentTypeError(f"{text} is no bitrate; it must be above 0")
    return value


def run(options: argparse.Namespace) -> int:
    """Print the plan; return 0, or 1 where the bitrate is beyond what was measured."""
    known = _measured(options.results, options.gbps * 1e9)
    chosen = [
        need
        for need in known
        if options.testbed in (None, need.testbed, need.condition)
        and options.implementation in (None, need.implementation)
        and options.size in (None, need.msg_bytes)
        and options.threads in (None, need.n_threads)
    ]
    if not chosen:
        sizes = sorted({need.msg_bytes for need in known})
        threads = sorted({need.n_threads for need in known})
        raise DataError(
            f"{options.results}: nothing was measured there; what was: "
            f"{', '.join(dict.fromkeys(need.condition for need in known))}; "
            f"{', '.join(dict.fromkeys(need.implementation for need in known))}; "
            f"{', '.join(map(format_size, sizes))}; "
            f"threads: {', '.join(map(str, threads))}; add it to config.yaml and run ./run"
        )
    rows = chosen if options.all else least_of(chosen)
    if options.json:
        plain = [
            {
                name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in asdict(need).items()
            }
            for need in rows
        ]
        print(json.dumps(plain, indent=1))
    else:
        print("\n".join(table(rows, options.gbps)))
        for note in notes(rows, least=not options.all and len(rows) < len(chosen)):
            print(textwrap.fill(note, WIDTH, break_on_hyphens=False))
    return 1 if all(need.is_beyond for need in chosen) else 0


def _measured(results: Path, bits_per_s: float) -> list[Need]:
    """Return what cells and curves say of a bitrate."""
    summary = results / "tables" / "summary.csv"
    cells = needs_of_cells(summary, bits_per_s) if summary.is_file() else []
    if any(not math.isnan(need.outside) for need in cells):
        emulated = _emulated(summary.parent)
        cells = [replace(need, emulated=need.condition in emulated) for need in cells]
    curves = needs_of_curves(results / "cpu_budget" / "facts.json", bits_per_s)
    found = best_known(cells, curves)
    if not found:
        raise DataError(
            f"{results}: no CPU time per byte was measured; measure first: "
            "./run, or ./run cpu_budget"
        )
    return found


def _emulated(tables: Path) -> set[str]:
    """Return the conditions whose guests an emulator ran."""
    # Imported here: pandas takes longer to load than all else, and most hosts had no guest.
    from copycost.records.column import KEY
    from copycost.records.columns import CELLS
    from copycost.records.cpu_attribution import EMULATED
    from copycost.records.table import read_columns

    cells = read_columns(tables / "cells.csv", CELLS, [*KEY, "condition", "accelerator"])
    return set(cells.loc[cells["accelerator"] == EMULATED, "condition"])


def table(needs: Sequence[Need], gbps: float) -> list[str]:
    """Return the lines of the table, fewest CPUs first within each condition."""
    places = list(dict.fromkeys(need.condition for need in needs))
    ordered = sorted(
        needs,
        key=lambda need: (
            places.index(need.condition),
            need.is_beyond,
            -need.most_bits_per_s if need.is_beyond else need.cpus,
        ),
    )
    in_guests = any(not math.isnan(need.outside) for need in needs)
    titles = ("QEMU" if title == "sender" and in_guests else title for title in _TITLES)
    rows = [tuple(titles)]
    for need in ordered:
        size, most = format_size(need.msg_bytes).replace(" ", ""), need.most_bits_per_s / 1e9
        cell = (need.condition, need.implementation, size, str(need.n_threads))
        if need.is_beyond:
            rows.append((*cell, "beyond measured", "", f"{most:.3g}", ""))
            continue
        interval = "" if math.isnan(need.low) else f" ({need.low:.2g}-{need.high:.2g})"
        part, alone = (need.outside, "") if in_guests else (need.sender, "all")
        part_text = alone if math.isnan(part) else f"{part:.2g}"
        rows.append((*cell, f"{need.cpus:.2g}{interval}", part_text, f"{most:.3g}", need.basis))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_TITLES))]
    inside = " (in a guest: inside)" if in_guests else " together"
    lines = [f"{gbps:g} Gbit/s takes this many CPUs of sender and receiver{inside}:"]
    for row in rows:
        texts = [
            text.ljust(width) if column in (0, 1, 4, 7) else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(" ".join(texts).rstrip())
    return lines


def notes(needs: Sequence[Need], least: bool) -> Iterator[str]:
    """Yield the sentences below the table; `least`: other sizes and threads were left out."""
    answers = [need for need in needs if not need.is_beyond]
    bases = {need.basis for need in answers}
    yield "most: the highest bitrate measured there [Gbit/s]."
    if "speed" in bases:
        yield (
            "speed: assumes that a byte costs what it cost at full speed, which was not measured "
            "at lower bitrates; a sender that waits in between may pay more per byte."
        )
    if bases & {"points", "least"}:
        yield (
            "points, least: from what cpu_budget measured at other bitrates: between two of them, "
            "or at most as much as at the lowest."
        )
    if any(not math.isnan(need.low) for need in answers):
        yield "In brackets: the interval of the median."
    if least:
        yield (
            "Each line shows the size and number of threads that reach the bitrate with the fewest "
            "CPUs; --all shows every one, with its interval; --size and --threads select."
        )
    if any(not math.isnan(need.outside) for need in answers):
        yield (
            "QEMU: CPUs of the host that the hypervisor's threads use for the guests, including "
            "those used inside."
        )
    if any(need.outside < need.cpus for need in answers):
        yield (
            "Where it is less than inside, virtual CPUs waited for those of the host (a guest "
            "counts such a wait as CPU time of its own), or a side runs in no guest."
        )
    if any(need.emulated for need in needs):
        places = dict.fromkeys(need.condition for need in needs if need.emulated)
        yield (
            f"Emulated: {', '.join(places)}. An emulator ran these guests, so a machine with "
            "hardware virtualisation uses different amounts of CPU and reaches other bitrates."
        )
    if any(math.isnan(need.sender) for need in answers):
        yield "sink has no receiver, so the CPUs are the sender's alone."
    n_beyond = sum(need.is_beyond for need in needs)
    if n_beyond:
        yield f"Beyond what was measured: {plural(n_beyond, 'line')}."
