"""The tables of published runs: what is beside them here, and each pair along the sizes."""

from collections.abc import Iterable, Mapping
from typing import Any

from copycost.report.answer_values import at_sizes
from copycost.report.markdown import escape
from copycost.wording.filters import impl, join_and, ratio, sizes, span
from copycost.wording.plurals import plural


def published_runs(runs: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """Return of each published run what is beside it here, and the ratios of throughput."""
    return [
        [
            escape(run["title"]),
            impl(run["testbed"]) + ("" if run["same_path"] else ", another path"),
            spans_of_ratios(run["ratios"]) if run["ratios"] else "no cell in common",
        ]
        for run in runs
    ]


def published_rows(runs: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """Return run, pair, thread counts, and the verdict along the sizes here and there."""
    rows = []
    for run in runs:
        for pair in run["crossovers"]:
            names = f"{impl(pair['implementation'])} against {impl(pair['baseline'])}"
            alike: dict[tuple[str, str], list[int]] = {}
            for row in pair["rows"]:
                said = (along_sizes(row["ours"]), along_sizes(row["theirs"]))
                alike.setdefault(said, []).append(row["n_threads"])
            rows += [
                [escape(run["title"]), names, join_and(threads), here, there]
                for (here, there), threads in alike.items()
            ]
    return rows


def spans_of_ratios(ratios: Iterable[Mapping[str, Any]]) -> str:
    """Return ratios of each implementation: ``0.89 to 1.19 with `one_copy` (5 cells) and ...``."""
    return join_and(
        f"{_span(one)} with {impl(one['implementation'])} ({plural(one['n_cells'], 'cell')})"
        for one in ratios
    )


def _span(one: Mapping[str, Any]) -> str:
    return ratio(one["median"]) if one["n_cells"] == 1 else span(one["low"], one["high"])


def along_sizes(found: Mapping[str, Any]) -> str:
    """Return where one was faster: ``faster from 16 KiB up; slower at 4 KiB (observed once)``."""
    if found["outcome"] == "not_measured":
        return "not compared"
    every = found["all_sizes"]
    better, worse, even = (found["sizes"][side] for side in ("better", "worse", "even"))
    said = [
        f"{word} {at_sizes(at, every)}"
        for word, at in (("faster", better), ("slower", worse))
        if at
    ]
    if even and (better or worse):
        said.append(f"no difference at {sizes(even)}")
    elif even:
        said.append("no difference at any size")
    if found["missing"]:
        said.append(f"not compared at {sizes(found['missing'])}")
    once = " (observed once)" if found["observed_once"] and (better or worse) else ""
    return "; ".join(said) + once
