"""The command ``plan``: how much CPU a bitrate takes on this host, from what was measured."""

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from copycost.errors import DataError
from copycost.studies.cpu_budget.plan import Need, Plan, plan_for
from copycost.wording.plurals import plural

FACTS = Path("results/cpu_budget/facts.json")

_BASIS = {
    "line": "on the fitted line",
    "points": "between two measured points",
    "least": "no more than at the least bitrate measured",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add = parser.add_argument
    add("--gbps", type=_positive, required=True, metavar="N", help="bitrate [10^9 bit/s]")
    add("--testbed", help="veth, loopback, ...; by default all that were measured")
    add("--streams", type=int, metavar="N", help="parallel streams; by default whatever is least")
    add("--facts", type=Path, default=FACTS, metavar="FILE", help=f"what was measured ({FACTS})")


def _positive(text: str) -> float:
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
    facts = read_facts(options.facts)
    measured = dict.fromkeys(str(curve["testbed"]) for curve in facts["curves"] if curve["points"])
    testbeds = [options.testbed] if options.testbed else list(measured)
    answered = False
    for testbed in testbeds:
        plans = [
            plan
            for plan in plan_for(facts, options.gbps * 1e9, testbed)
            if options.streams in (None, plan.n_threads)
        ]
        if not plans:
            asked = f" with {options.streams} streams" if options.streams else ""
            raise DataError(
                f"{options.facts}: nothing was measured on {testbed}{asked}, only on"
                f" {', '.join(measured) or 'nothing'}; add it to the section cpu_budget of"
                " config.yaml and run ./run cpu_budget"
            )
        print(sentence(plans, options.gbps, facts["confidence"]))
        answered = answered or plans[0].basis != "beyond"
    return 0 if answered else 1


def read_facts(path: Path) -> Mapping[str, Any]:
    """Return what was measured.

    Raises
    ------
    DataError
        If there is nothing.
    """
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(f"{path}: not found; measure first: ./run cpu_budget") from error
    except ValueError as error:
        raise DataError(f"{path}: {error}; make it again: ./run cpu_budget") from error
    if not facts.get("n_measured"):
        raise DataError(
            f"{path}: no repetition gave a value; the chapter on the CPU budget says why"
        )
    return facts


def sentence(plans: Sequence[Plan], gbps: float, confidence: float) -> str:
    """Return the answer for one testbed: the plan that needs the least CPU comes first."""
    best = plans[0]
    if best.basis == "beyond" or best.sender is None or best.receiver is None:
        highest = max(plans, key=lambda plan: plan.highest_bits_per_s)
        return (
            f"{best.testbed}: {gbps:g} Gbit/s is beyond what was measured;"
            f" the highest was {highest.highest_bits_per_s / 1e9:.3g} Gbit/s"
            f" with {plural(highest.n_threads, 'stream')}"
        )
    needs = [f"{_need(need, best.basis)} at the {name}" for name, need in _sides(best)]
    interval = "" if best.sender.low is None else f"; in brackets {confidence * 100:g} % intervals"
    if interval and best.basis == "points":
        interval += " of the CPU that these took"
    return (
        f"{best.testbed}: {gbps:g} Gbit/s takes {' and '.join(needs)}, in per cent of one CPU,"
        f" with {plural(best.n_threads, 'stream')} of {best.implementation}"
        f" ({_BASIS[best.basis]}{interval})"
    )


def _sides(plan: Plan) -> list[tuple[str, Need]]:
    assert plan.sender is not None
    assert plan.receiver is not None
    return [("sender", plan.sender), ("receiver", plan.receiver)]


def _need(need: Need, basis: str) -> str:
    text = f"{'at most ' if basis == 'least' else ''}{need.percent:.3g} %"
    if need.low is not None and need.high is not None:
        text += f" ({need.low:.3g} to {need.high:.3g})"
    return text
