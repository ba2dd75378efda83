"""The command ``plan``: how much CPU a bitrate takes on this host, from what was measured."""

import argparse
import math
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from copycost.errors import DataError
from copycost.studies.cpu_budget.answer import plans_by_testbed, read_facts, sentence
from copycost.studies.cpu_budget.plan import Plan
from copycost.studies.streams.plan import Need, least_of, needs_of, read_summary
from copycost.wording.numbers import format_size, size_option
from copycost.wording.words import plural

HELP = "say how much CPU a bitrate takes on this host"

DESCRIPTION = """\
Say how many CPUs of sender and receiver a bitrate takes on this host, with every way and testbed
measured: from what a byte cost at full speed, or, where ./run cpu_budget measured the bitrate
itself, from that."""

EPILOG = "Exit status: 0 answered, 1 beyond what was measured, or nothing was."

RESULTS = Path("results")
WIDTH = 80
_TITLES = ("condition", "way", "size", "threads", "CPUs", "of it sender", "most Gbit/s")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add = parser.add_argument
    add("--gbps", type=_bitrate, required=True, metavar="N", help="bitrate [10^9 bit/s]")
    add("--testbed", help="veth, sink, ..., or a condition such as sink_cold")
    add("--implementation", metavar="WAY", help="two_copy, zero_copy, ..., iperf3")
    add("--size", type=size_option, metavar="BYTES", help="message size, such as 64KiB")
    add("--threads", "--streams", type=int, metavar="N", help="threads a side, that is, streams")
    add("--all", action="store_true", help="every size and number of threads, not the cheapest")
    add("--results", type=Path, default=RESULTS, metavar="FOLDER", help=f"default: {RESULTS}")


def _bitrate(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value > 0.0 or math.isinf(value):
        raise argparse.ArgumentTypeError(f"{text} is no bitrate, must be above 0")
    return value


def run(options: argparse.Namespace) -> int:
    """Print the plan; return 0, or 1 where the bitrate is beyond what was measured.

    Raises
    ------
    DataError
        If nothing was measured, or not there.
    """
    needs, curves, section, confidence = _measured(options.results, options.gbps * 1e9)
    chosen = [need for need in needs if _is_meant(need, options)]
    plans = {
        testbed: meant
        for testbed, of in curves.items()
        if (meant := [plan for plan in of if _is_curve_meant(plan, section, options)])
    }
    # what was measured at this very bitrate stands before what is read off the full speed
    lines = {
        (plan.testbed, plan.implementation, plan.n_threads)
        for of in plans.values()
        for plan in of
        if plan.basis != "beyond"
    }
    chosen = [
        need
        for need in chosen
        if need.msg_bytes != section
        or (need.condition, need.implementation, need.n_threads) not in lines
    ]
    if not chosen and not plans:
        raise DataError(_not_there(options, needs, curves))
    answered = any(not need.is_beyond for need in chosen) or any(
        of[0].basis != "beyond" for of in plans.values()
    )
    rows = chosen if options.all else least_of(chosen)
    if rows:
        print("\n".join(table(rows, options.gbps)))
        for note in notes(rows, least=not options.all and len(rows) < len(chosen)):
            print(textwrap.fill(note, WIDTH, break_on_hyphens=False))
    for of in plans.values():
        said = sentence(of, options.gbps, confidence)
        print(textwrap.fill(f"cpu_budget, {said}", WIDTH, break_on_hyphens=False))
    return 0 if answered else 1


def _measured(
    results: Path, bits_per_s: float
) -> tuple[list[Need], dict[str, list[Plan]], int, float]:
    """Return what cells and curves say of a bitrate, and size and confidence of the latter."""
    summary = results / "tables" / "summary.csv"
    needs = []
    if summary.is_file():
        rows = read_summary(summary)
        needs = needs_of(rows, bits_per_s)
        if any(not math.isnan(need.outside) for need in needs):
            needs = needs_of(rows, bits_per_s, _emulated(summary.parent))
    facts = read_facts(results / "cpu_budget" / "facts.json")
    if facts is None:
        if not needs:
            raise DataError(
                f"{results}: nothing was measured that tells the CPU of a byte; measure first: "
                "./run, or ./run cpu_budget"
            )
        return needs, {}, 0, math.nan
    size = int(facts["section"]["msg_bytes"])
    return needs, plans_by_testbed(facts, bits_per_s), size, float(facts["confidence"])


def _emulated(tables: Path) -> set[str]:
    """Return the conditions whose guests an emulator ran."""
    # Imported here: pandas takes longer to load than all else, and most hosts had no guest.
    from copycost.records.column import KEY
    from copycost.records.columns import CELLS
    from copycost.records.cpu_attribution import EMULATED
    from copycost.records.table import read_columns

    cells = read_columns(tables / "cells.csv", CELLS, [*KEY, "condition", "accelerator"])
    return set(cells.loc[cells["accelerator"] == EMULATED, "condition"])


def _is_meant(need: Need, options: argparse.Namespace) -> bool:
    return (
        options.testbed in (None, need.testbed, need.condition)
        and options.implementation in (None, need.implementation)
        and options.size in (None, need.msg_bytes)
        and options.threads in (None, need.n_threads)
    )


def _is_curve_meant(plan: Plan, msg_bytes: int, options: argparse.Namespace) -> bool:
    return (
        options.size in (None, msg_bytes)
        and options.testbed in (None, plan.testbed)
        and options.implementation in (None, plan.implementation)
        and options.threads in (None, plan.n_threads)
    )


def _not_there(
    options: argparse.Namespace, needs: Sequence[Need], curves: dict[str, list[Plan]]
) -> str:
    places = dict.fromkeys([*(need.condition for need in needs), *curves])
    ways = dict.fromkeys(
        [*(need.implementation for need in needs), *(p.implementation for of in curves.values()
                                                      for p in of)]
    )  # fmt: skip
    sizes = sorted({need.msg_bytes for need in needs})
    threads = sorted({need.n_threads for need in needs})
    return (
        f"{options.results}: nothing was measured there; what was: {', '.join(places)}; "
        f"{', '.join(ways)}; {', '.join(map(format_size, sizes)) or 'no sizes'}; "
        f"threads: {', '.join(map(str, threads)) or 'none'}; add it to config.yaml and run ./run"
    )


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
    rows = [_TITLES, *(_row(need) for need in ordered)]
    if in_guests:
        outside = ("QEMU", *(_outside(need) for need in ordered))
        rows = [(*row[:5], cpus, *row[6:]) for row, cpus in zip(rows, outside, strict=True)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_TITLES))]
    lines = [f"{gbps:g} Gbit/s takes so many CPUs of sender and receiver together:"]
    if in_guests:
        lines = [f"{gbps:g} Gbit/s takes so many CPUs of sender and receiver (in a guest: inside):"]
    for row in rows:
        texts = [
            text.ljust(width) if column in (0, 1, 4) else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(" ".join(texts).rstrip())
    return lines


def _outside(need: Need) -> str:
    """Return the CPUs of the hypervisors, which stand where otherwise the sender's do."""
    return "" if need.is_beyond or math.isnan(need.outside) else f"{need.outside:.2g}"


def _row(need: Need) -> tuple[str, ...]:
    most = f"{need.most_bits_per_s / 1e9:.3g}"
    cell = (
        need.condition, need.implementation, format_size(need.msg_bytes).replace(" ", ""),
        str(need.n_threads),
    )  # fmt: skip
    if need.is_beyond:
        return *cell, "beyond measured", "", most
    interval = "" if math.isnan(need.low) else f" ({need.low:.2g}-{need.high:.2g})"
    sender = "all" if math.isnan(need.receiver) else f"{need.sender:.2g}"
    return *cell, f"{need.cpus:.2g}{interval}", sender, most


def notes(needs: Sequence[Need], least: bool) -> Iterator[str]:
    """Yield the sentences below the table.

    Parameters
    ----------
    least
        Whether other sizes and numbers of threads were left out.
    """
    answers = [need for need in needs if not need.is_beyond]
    if answers:
        yield (
            "A byte is taken to cost what it cost at full speed (the last column): at a lower "
            "bitrate that is an assumption, which nobody measured here; a sender that waits in "
            "between may pay more per byte."
        )
    if any(not math.isnan(need.low) for need in answers):
        yield "In brackets the interval of the median."
    if least:
        yield (
            "Each line is the size and number of threads that take the fewest CPUs of those that "
            "reach the bitrate; --all shows every one, with its interval; --size and --threads "
            "choose."
        )
    if any(not math.isnan(need.outside) for need in answers):
        yield (
            "QEMU: what the hypervisor's threads use on the host for the guests, in which the CPUs "
            "of sides inside are contained."
        )
    if any(need.outside < need.cpus for need in answers):
        yield (
            "Where it is less than inside, virtual CPUs waited for those of the host, or a side "
            "runs in no guest: a guest takes such a wait for CPU time of its own."
        )
    if any(need.emulated for need in needs):
        places = dict.fromkeys(need.condition for need in needs if need.emulated)
        yield (
            f"Emulated: {', '.join(places)}. An emulator ran these guests, so a machine with "
            "hardware virtualisation takes other CPUs and reaches other bitrates."
        )
    if any(math.isnan(need.receiver) for need in needs):
        yield "On sink nobody receives, so there are the sender's CPUs alone."
    n_beyond = sum(need.is_beyond for need in needs)
    if n_beyond:
        yield f"Beyond what was measured: {plural(n_beyond, 'line')}."
