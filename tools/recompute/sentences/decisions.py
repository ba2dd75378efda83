"""The sentences below the decision tables."""

import numpy as np

from tools.recompute.decisions import ALIKE, of_tables, table_of
from tools.recompute.estimates import Estimate
from tools.recompute.quality import quality_of
from tools.recompute.run import THROUGHPUT
from tools.recompute.sentences.analysis_quality import DISTURBANCES, with_warning
from tools.recompute.sentences.virtual import pooled
from tools.recompute.told import Expected, Slot, Told, says


@says("Of <n> answers, <n> are settled", "Of <n> answers, <n> is settled")
def _settled(told: Told, *_: Slot) -> Expected:
    answers = [
        answer
        for trips in (False, True)
        if len(rows := of_tables(told.run, trips=trips))
        for condition in rows["condition"].unique()
        for row in table_of(told.run, condition, trips=trips)
        for answer in row.answers.values()
        if answer.kind != "alone"
    ]
    return [len(answers), sum(one.settled for one in answers)]


@says(
    "Throughput on <impl> (emulated) was <x> times that on <impl> <i>",
    "Throughput on <impl> was <x> times that on <impl> <i>",
)
def _in_guests(told: Told, *_: Slot) -> Expected:
    found, _logs = pooled(told, "throughput")
    return [None, found.value, None, found]


@says(
    "A byte took <x> times the CPU time of the two processes there, counted outside of the guests"
    " <i>"
)
def _outside(told: Told, *_: Slot) -> Expected:
    found, _logs = pooled(told, "outside")
    return [found.value, found]


@says("within <p> of each other")
def _alike(told: Told, _p: str) -> Expected:
    return [ALIKE - 1]


@says(
    "(<impl>, <size>), <impl> takes <x> times the CPU time of <impl> <i>; where the kernel copies"
    " after all (<impl>, <size>), it takes <x> times <i>",
    "(<impl>, <size>), <impl> takes <x> times the CPU time of <impl> <i>",
)
def _bounds(told: Told, slug: str, _s: int, way: str, _x: str, base: str, *more: Slot) -> Expected:
    slugs = [slug, *more[1:2]]
    largest = min(told.run.sizes(one)[-1] for one in slugs)
    found = []
    for one in slugs:
        size = min(told.run.sizes(one), key=lambda size: max(size / largest, largest / size))
        threads = min(told.run.measured(one)["n_threads"])
        cells = told.run.cells(one, way, base, told.run.metric(one, "CPU time"))
        found.append((size, cells[size, threads]))
    (size, ratio), *others = found
    expected: Expected = [None, size, None, ratio.value, None, ratio]
    for other_size, other in others:
        expected += [None, other_size, other.value, other]
    return expected


@says("Of <n> repetitions, <n> were disturbed", "Of <n> repetitions, <n> was disturbed")
def _disturbed(told: Told, *_: Slot) -> Expected:
    rows = told.rows
    return [len(rows), with_warning(rows, *DISTURBANCES)]


@says("All <n> repetitions ran undisturbed")
def _undisturbed(told: Told, _n: int) -> Expected:
    assert with_warning(told.rows, *DISTURBANCES) == 0, "some did not"
    return [len(told.rows)]


def _control(told: Told) -> tuple[Estimate, list[Estimate]]:
    """Return what the reference came to against itself, and what each cell says of that."""
    trips = told.sentence.section.startswith("sec-round-trips")
    name = "p50_ns" if trips else THROUGHPUT
    rows = of_tables(told.run, trips=trips)
    own = rows[rows["implementation"] == rows["reference"]].dropna(subset=[name])
    logs = (own[name] / own[f"reference_{name}"]).astype(float).map(np.log)
    cells = logs.groupby([own[name] for name in ("condition", "msg_bytes", "n_threads")])
    return told.run.ratio(logs), [told.run.ratio(one) for _, one in cells if len(one) > 1]


_AGAINST_ITSELF = [
    f"<impl> against itself, measured as every other way is, had <d> times {what} <i>"
    for what in ("the throughput", "the median round trip")
]


@says(*_AGAINST_ITSELF)
def _against_itself(told: Told, *_: Slot) -> Expected:
    found, _cells = _control(told)
    return [None, found.value, found]


@says(
    *(
        f"{one}; of <n> such {comparisons}, <n> {seem} to differ, where <p> would"
        for one in _AGAINST_ITSELF
        for comparisons in ("comparison", "comparisons")
        for seem in ("seem", "seems")
    )
)
def _seem_apart(told: Told, *_: Slot) -> Expected:
    found, cells = _control(told)
    chance = 1.0 - told.run.settings.confidence
    return [None, found.value, found, len(cells), sum(one.sign != 0 for one in cells), chance]


@says("Other ratios may share this bias")
def _biased(told: Told) -> Expected:
    found, _cells = _control(told)
    assert found.sign, "it has none"
    return []


@says("Of <n> combinations of way, size and threads")
def _combinations(told: Told, _n: int) -> Expected:
    keys = ["condition", "implementation", "msg_bytes", "n_threads"]
    return [len(of_tables(told.run, trips=False).groupby(keys))]


@says("<n> passed every check")
def _passed(told: Told, _n: int) -> Expected:
    slugs = of_tables(told.run, trips=False)["condition"].unique()
    return [sum(quality_of(told.run, slug).clean for slug in slugs)]
