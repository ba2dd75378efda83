"""What a foreign table says, as rows: ways of sending compared, threads, and what was expected."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from copycost.analysis.json_values import Facts
from copycost.report.markdown import code, escape
from copycost.wording.filters import n_threads, ratio, size, span

COLUMNS = (
    ("On", "left"), ("Compared", "left"), ("Higher in", "right"), ("Lower in", "right"),
    ("Open in", "right"), ("Mean ratio", "right"), ("Along the sizes", "left"),
)  # fmt: skip
_NONE = "\N{EN DASH}"
_LEVELS = {"l1d_load_misses": "L1d misses", "llc_load_misses": "LLC misses"}
_ALONG = {
    "always": "higher throughout", "never": "lower throughout", "mixed": "changes more than once",
    "undecided": "open", "not_measured": "not measured",
}  # fmt: skip


def analysis_rows(facts: Facts) -> list[list[str]]:
    """Return a row per dataset and comparison of the table, in Markdown, as `COLUMNS`."""
    return [
        [code(slug), *row]
        for slug in facts["grid"]["conditions"]
        for row in _of_dataset(facts["conditions"][slug])
    ]


def _of_dataset(dataset: Mapping[str, Any]) -> Iterator[list[str]]:
    for pair in dataset["crossovers"].values():
        if pair["n_compared"]:
            counts = (pair["n_better"], pair["n_worse"], pair["n_even"])
            what = f"throughput, {code(pair['implementation'])} / {code(pair['baseline'])}"
            yield _row(what, counts, pair["pooled"], "; ".join(map(_along, pair["groups"])))
    misses = dataset["questions"]["q2"]
    for one in misses.get("falls", ()):
        level = _LEVELS.get(one["level"], one["level"].replace("_", " "))
        yield _in_cells(f"{level} per byte", one)
    for one in misses.get("costs", ()):
        yield _in_cells(f"{dataset['cost_label']} per byte", one)
    threads = dataset["questions"]["q3"]
    for one in threads.get("wholes", ()):
        of = f"{code(one['implementation'])}, {threads['most']} threads / {threads['fewest']}"
        yield _row(f"throughput, {of}", None, one)
    for one in dataset["questions"]["q6"].get("violations", ()):
        said = f"against what is expected: {one['statement'][0].lower()}{one['statement'][1:]}"
        against = one["n_violated"], one["n_held"]
        more, less = against if one["violated_by"] == "above" else against[::-1]
        yield _row(escape(said), (more, less, one["n_open"]), None)


def _in_cells(what: str, one: Mapping[str, Any]) -> list[str]:
    counts = one["n_above"], one["n_below"], one["n_cells"] - one["n_above"] - one["n_below"]
    return _row(f"{what}, {code(one['implementation'])} / {code('two_copy')}", counts, one)


def _row(
    what: str, counts: Sequence[int] | None, mean: Mapping[str, Any] | None, along: str = ""
) -> list[str]:
    return [what, *(map(str, counts) if counts else ("", "", "")), _mean(mean, counts), along]


def _mean(found: Mapping[str, Any] | None, counts: Sequence[int] | None) -> str:
    """Return a pooled ratio with its interval; none where its cells contradict each other."""
    if found is None or found["value"] is None or (counts and counts[0] and counts[1]):
        return _NONE
    if found["low"] is None or found["high"] is None:
        return f"{ratio(found['value'])} (once)"
    return f"{ratio(found['value'])} ({span(found['low'], found['high'], form=ratio)})"


def _along(group: Mapping[str, Any]) -> str:
    """Return where one way becomes better along the sizes, with some thread counts."""
    change, outcome = group["change"], group["outcome"]
    if change is None:
        said = _ALONG[outcome]
    elif outcome == "from":
        said = f"from {size(change['above_bytes'])}"
    else:
        said = f"up to {size(change['below_bytes'])}"
    return f"{said} ({n_threads(group['n_threads'])})"
