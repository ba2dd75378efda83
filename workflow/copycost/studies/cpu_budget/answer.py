"""How much CPU a bitrate takes, in sentences, from what the study measured."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from copycost.errors import DataError
from copycost.studies.cpu_budget.plan import Need, Plan, plan_for
from copycost.wording.words import plural

_BASIS = {
    "line": "on the fitted line",
    "points": "between two measured points",
    "least": "no more than at the least bitrate measured",
}


def read_facts(path: Path) -> Mapping[str, Any] | None:
    """Return what was measured; None where the study was not, or gave no value.

    Raises
    ------
    DataError
        If the file is damaged.
    """
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DataError(f"{path}: {error}; make it again: ./run cpu_budget") from error
    return facts if facts.get("n_measured") else None


def plans_by_testbed(facts: Mapping[str, Any], bits_per_s: float) -> dict[str, list[Plan]]:
    """Return what each curve says, by testbed, the least CPU of both sides first."""
    testbeds = dict.fromkeys(str(curve["testbed"]) for curve in facts["curves"] if curve["points"])
    return {testbed: plan_for(facts, bits_per_s, testbed) for testbed in testbeds}


def sentence(plans: Sequence[Plan], gbps: float, confidence: float) -> str:
    """Return the answer for one testbed: the plan that needs the least CPU comes first."""
    best = plans[0]
    where = f"{best.testbed}, emulated" if best.emulated else best.testbed
    if best.basis == "beyond" or best.sender is None or best.receiver is None:
        highest = max(plans, key=lambda plan: plan.highest_bits_per_s)
        return (
            f"{where}: {gbps:g} Gbit/s is beyond what was measured;"
            f" the highest was {highest.highest_bits_per_s / 1e9:.3g} Gbit/s"
            f" with {plural(highest.n_threads, 'stream')}"
        )
    needs = [f"{_need(need, best.basis)} at the {name}" for name, need in _sides(best)]
    interval = "" if best.sender.low is None else f"; in brackets {confidence * 100:g} % intervals"
    if interval and best.basis == "points":
        interval += " of the CPU that these took"
    return (
        f"{where}: {gbps:g} Gbit/s takes {' and '.join(needs)}{_outside(best)}, in per cent of one"
        f" CPU,"
        f" with {plural(best.n_threads, 'stream')} of {best.implementation}"
        f" ({_BASIS[best.basis]}{interval})"
    )


def _outside(plan: Plan) -> str:
    """Return what hypervisors take for it, as the rest of a clause."""
    if not plan.outside:
        return ""
    if len(plan.outside) == 1:
        (need,) = plan.outside.values()
        return f" inside the guest, and outside {_need(need, plan.basis)} in QEMU"
    needs = [f"{_need(need, plan.basis)} in the {side}'s" for side, need in plan.outside.items()]
    return f" inside the guests, and outside {' and '.join(needs)} QEMU"


def _sides(plan: Plan) -> list[tuple[str, Need]]:
    assert plan.sender is not None
    assert plan.receiver is not None
    return [("sender", plan.sender), ("receiver", plan.receiver)]


def _need(need: Need, basis: str) -> str:
    text = f"{'at most ' if basis == 'least' else ''}{need.percent:.3g} %"
    if need.low is not None and need.high is not None:
        text += f" ({need.low:.3g} to {need.high:.3g})"
    return text
