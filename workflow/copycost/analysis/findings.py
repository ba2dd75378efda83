"""Every statement of an analysis as a `Finding`, read from its facts: nothing is decided here."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from itertools import product

import pandas as pd

from copycost.analysis.columns import FINDINGS
from copycost.analysis.finding import LISTS, Finding
from copycost.analysis.json_values import Facts
from copycost.analysis.metrics import BASELINE, THROUGHPUT


def findings_of(facts: Facts) -> list[Finding]:
    """Return all findings: answers first, then by question and condition."""
    measured = [facts["conditions"][slug] for slug in facts["measured_conditions"]]
    trips = (facts["round_trips"] or {}).get("conditions", [])
    questions = (_zero_copy, _misses, _threads, _crossovers, _expectations)
    return [
        *(
            row[question]
            for one in (*measured, *(trip for trip in trips if trip["n_measured"]))
            for row, question in product(one["decisions"]["rows"], ("fastest", "cheapest"))
            if row[question]
        ),
        *(found for question in questions for one in measured for found in question(one)),
    ]


def findings_table(findings: Iterable[Finding]) -> pd.DataFrame:
    """Return the table of findings; those that are reasons follow what they explain."""
    rows: list[Facts] = []
    for finding in findings:
        whose = len(rows) + 1
        for one in (finding, *finding.reasons):
            row = {name: value for name, value in asdict(one).items() if name != "reasons"}
            for name in LISTS:
                row[name] = ",".join(map(str, row[name])) or None
            reason_of = None if one is finding else whose
            rows.append({"id": len(rows) + 1, "reason_of": reason_of} | row)
    numbers = {column.name: "float64" for column in FINDINGS.columns if column.dtype == "float64"}
    return pd.DataFrame(rows, columns=list(FINDINGS.names)).astype(numbers)


def _ratio(found: Facts | None) -> Facts:
    """Return the estimate of a ratio of the facts."""
    if not found:
        return {}
    return {"estimate": found["value"]} | {name: found[name] for name in ("low", "high", "n")}


def _weighed(found: Facts) -> Facts:
    """Return the verdict and the estimate of a piece of evidence."""
    estimate = {"verdict": found["weight"], "estimate": found["value"]}
    return estimate | {"low": found["low"], "high": found["high"]}


def _over_cells(found: Facts, more: str, less: str, *, more_is_better: bool = False) -> Facts:
    """Return the verdict of a ratio over cells, which has no estimate where these disagree."""
    told = {1: more, -1: less}.get(found["sign"], "no difference seen")
    better, worse = ("n_above", "n_below") if more_is_better else ("n_below", "n_above")
    return {
        "verdict": "cells disagree" if found["contradict"] else told,
        "n_cells": found["n_cells"],
        "n_better": found[better],
        "n_worse": found[worse],
        **_ratio(None if found["contradict"] else found),
    }


def _zero_copy(condition: Facts) -> Iterator[Finding]:
    """Yield where zero-copy was the fastest, with how often it was copied, and its two factors."""
    found = condition["questions"]["q1"]
    if found["verdict"] == "not_measured":
        return
    rival = found["rivals"][0]
    about = Finding(question="zero_copy", condition=condition["slug"], verdict=found["verdict"],
                    subject="zero_copy", reference=rival)  # fmt: skip
    copied = _weighed(condition["evidence"]["all_copied"])
    share = replace(about, quantity="copied_share", **copied)
    yield replace(
        about,
        reference=" or ".join(found["rivals"]),
        n_cells=found["n_compared"],
        n_better=found["n_won"],
        n_worse=found["n_lost"],
        reasons=(share, *_factors(about, found["slower"] or found["faster"], picked=True)),
    )


def _factors(about: Finding, found: Facts | None, *, picked: bool = False) -> Iterator[Finding]:
    """Yield the throughput of the cells that are explained, and the factors that make it.

    Of cells that were picked by their throughputs, none has an interval.
    """
    explained = (found or {}).get("explained")
    if not found or not explained:
        return
    parts = {THROUGHPUT: explained["throughput"]}
    parts |= {_FACTORS[factor["name"]]: factor["ratio"] for factor in explained["factors"]}
    for quantity, ratio in parts.items():
        told = {"estimate": ratio["value"]} if picked else _ratio(ratio)
        yield replace(about, quantity=quantity, verdict=explained["relation"],
                      n_cells=found.get("n_cells"),
                      correction="cells picked by their throughput" if picked else "none",
                      **told)  # fmt: skip


_FACTORS = {"cost": "cpu_ns_per_byte", "use": "cpus_in_use"}


def _misses(condition: Facts) -> Iterator[Finding]:
    """Yield how the misses of each level that was counted differ from those of two copies."""
    fall = condition["evidence"]["l1d_fall_follows_cache_size"]
    for found in condition["questions"]["q2"]["falls"]:
        about = Finding(
            question="misses",
            condition=condition["slug"],
            subject=found["implementation"],
            reference=BASELINE,
            quantity=f"{found['level']}_per_byte",
            **_over_cells(found, "more", "fewer"),
        )
        beyond = replace(about, quantity="beyond_l1d", **_weighed(fall))
        is_it = (found["level"], found["implementation"]) == ("l1d_load_misses", "one_copy")
        yield replace(about, reasons=(beyond,) if is_it and fall["value"] is not None else ())


def _threads(condition: Facts) -> Iterator[Finding]:
    """Yield what became of each way's throughput with more threads."""
    found, evidence = condition["questions"]["q3"], condition["evidence"]
    wholes = {whole["implementation"]: whole for whole in found["wholes"]}
    grown = {
        "threads_per_cpu": _weighed(evidence["threads_above_cpus"]),
        "context_switches_per_message": _weighed(evidence["switches_grow_with_threads"]),
        "l1d_load_misses_per_byte": _weighed(evidence["l1d_misses_grow_with_threads"]),
        "llc_load_misses_per_byte": _weighed(evidence["llc_misses_grow_with_threads"]),
    }
    explained = {row["implementation"]: row for row in found["explained"]}
    for group in found["groups"]:
        for name in group["implementations"]:
            about = Finding(
                question="threads",
                condition=condition["slug"],
                subject=name,
                reference=f"{group['fewest']} threads",
                n_threads=(group["fewest"], group["most"]),
                verdict=group["course"],
                correction="Holm, over the condition",
            )
            growth = (
                replace(about, quantity=quantity, subject="all ways", correction="none", **one)
                for quantity, one in grown.items()
                if one["verdict"] != "not_measured"
            )
            ways = explained[name]["ways"] if name in explained else []
            factors = _factors(about, ways[0]) if len(ways) == 1 else ()
            yield replace(about, reasons=(*growth, *factors), **_ratio(wholes.get(name)))


def _crossovers(condition: Facts) -> Iterator[Finding]:
    """Yield from which size on each way is faster than two copies, and what that costs."""
    costs = {found["implementation"]: found for found in condition["questions"]["q2"]["costs"]}
    costs |= condition["others"]["costs"]
    for pair in condition["crossovers"].values():
        if pair["baseline"] != BASELINE or not pair["n_compared"]:
            continue
        about = Finding(
            question="crossover",
            condition=condition["slug"],
            subject=pair["implementation"],
            reference=BASELINE,
            verdict=pair["overall"],
            n_cells=pair["n_compared"],
            n_better=pair["n_better"],
            n_worse=pair["n_worse"],
            correction="Holm, over sizes and thread counts",
        )
        extremes = (
            replace(about, quantity=f"{THROUGHPUT} ({name})", msg_bytes=(found["msg_bytes"],),
                    n_threads=(found["n_threads"],), estimate=found["ratio"], low=found["low"],
                    high=found["high"], n=found["n_pairs"],
                    correction=f"picked from {pair['n_compared']} cells")
            for name in ("worst", "best")
            if (found := pair[name])
        )  # fmt: skip
        price = (
            replace(
                about,
                quantity=condition["cost_column"],
                correction="none",
                **_over_cells(cost, "more", "less") | {"n_cells": about.n_cells},
            )
            for cost in [costs.get(pair["implementation"])]
            if cost
        )
        yield replace(
            about,
            reasons=(*extremes, *price, *_message_cost(condition, about)),
            open_bytes=tuple((pair["common"] or {"open": ()})["open"]),
            **(pair["bracket"] or {}),
            **_ratio(pair["pooled"] if pair["one_sided"] else None),
        )
    for pair in condition["others"]["pairs"]:
        if ratio := pair["throughput"]:
            yield Finding(
                question="crossover",
                condition=condition["slug"],
                subject=pair["implementation"],
                reference=pair["baseline"],
                **_over_cells(ratio, "faster", "slower", more_is_better=True),
            )


def _message_cost(condition: Facts, about: Finding) -> Iterator[Finding]:
    """Yield what a byte of the smallest messages costs, over one of the largest."""
    found = condition["evidence"]["message_cost_dominates"]
    if about.subject == "one_copy" and found["value"] is not None:
        yield Finding(
            question=about.question,
            condition=about.condition,
            subject="a byte of the smallest messages",
            reference="one of the largest",
            quantity="small_message_cost",
            **_weighed(found),
        )


def _expectations(condition: Facts) -> Iterator[Finding]:
    """Yield how each expectation that could be tested fared."""
    for found in condition["questions"]["q6"]["expectations"]:
        if not found["n_tested"]:
            continue
        strongest = found["strongest"]
        where: Facts = strongest["where"] if strongest else {}
        places: Facts = {name: (where[name],) for name in LISTS if name in where}
        yield Finding(
            question="expectation",
            condition=condition["slug"],
            subject=found["id"],
            reference=found["statement"],
            quantity=found["quantity"],
            verdict=_violation(strongest),
            n_cells=found["n_tested"],
            n_better=found["n_held"],
            n_worse=found["n_violated"],
            correction="Holm, over all expectations and conditions",
            **places,
            **_ratio(strongest),
        )


def _violation(strongest: Facts | None) -> str:
    if strongest is None:
        return "not violated"
    return "once" if strongest["once"] else "violated"
