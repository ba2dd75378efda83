"""What the abstract tells: each condition's comparisons, and which sentences each of them gets."""

from collections.abc import Mapping
from typing import Any

PAIRS = ("one_copy_vs_two_copy", "zero_copy_vs_two_copy")
"""The comparisons of the abstract, by their names in the facts."""


def compared_in_short(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the conditions with comparisons, in the order of the config.

    Returns
    -------
    list
        Per condition: ``condition`` (its facts) and ``pairs``, each from `pair_in_short`.
    """
    conditions = [facts["conditions"][slug] for slug in facts["measured_conditions"]]
    compared = [
        {"condition": condition, "pairs": [pair_in_short(pair) for pair in _pairs(condition)]}
        for condition in conditions
    ]
    return [one for one in compared if one["pairs"]]


def _pairs(condition: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    crossovers = condition["crossovers"]
    return [crossovers[name] for name in PAIRS if crossovers[name]["overall"] != "not_measured"]


def pair_in_short(pair: Mapping[str, Any]) -> dict[str, Any]:
    """Return a comparison of the facts with what decides its sentences.

    Keys
    ----
    outcome
        ``always``, ``never``, ``turns`` (at a size, once), ``mixed``; without a size:
        ``no_difference``, ``never_faster``, ``never_slower`` (in no cell), ``unsettled``,
        ``depends_on_threads``.
    once
        Whether a difference was seen in one round only.
    reversed_at
        Sizes at which it depends on the number of threads which of the two is faster.
    n_corrected
        Differences that are to be corrected for the number of cells; 0 where no cells are counted.
    pooled
        The ratio over all cells, where no size is settled and no cell contradicts another; else
        it would tell which sizes the grid has most of.
    """
    n_differing = pair["n_better"] + pair["n_worse"]
    outcome = _outcome(pair)
    of_cells = outcome in ("never_faster", "never_slower", "unsettled")
    one_sided = outcome in ("never_faster", "never_slower")
    pooled = pair["pooled"]
    tells = one_sided and pair["n_compared"] > 1 and pooled["n"] > 1 and pooled["sign"] != 0
    told = outcome in ("turns", "depends_on_threads")
    corrected = of_cells and pair["n_compared"] > 1 and not pair["observed_once"]
    return {
        **pair,
        "outcome": outcome,
        "once": pair["observed_once"] and n_differing > 0,
        "reversed_at": pair["reversals"] if told else [],
        "n_corrected": n_differing if corrected else 0,
        "pooled": pooled if tells else None,
    }


def _outcome(pair: Mapping[str, Any]) -> str:
    overall: str = pair["overall"]
    if pair["common"]:
        return "turns"
    if overall in ("always", "never", "mixed"):
        return overall
    if not pair["n_better"]:
        return "never_faster" if pair["n_worse"] else "no_difference"
    if not pair["n_worse"]:
        return "never_slower"
    return "unsettled" if overall == "undecided" else "depends_on_threads"
