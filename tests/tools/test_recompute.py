import itertools
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from sample_records import beside, sample_record, with_round_trips
from scipy import stats

from copycost.records.record import cell_of
from copycost.studies.round_trips.table import collect_round_trips
from tools.recompute import estimates, sentences
from tools.recompute.decisions import decision_table
from tools.recompute.document import NUMBER, Sentence, Table, parts
from tools.recompute.estimates import Estimate
from tools.recompute.power import other_number
from tools.recompute.run import Run, pair_of, relative_of
from tools.recompute.sentences.round_trips import trips_of
from tools.recompute.slots import agrees, compiled, read
from tools.recompute.tables import wrong_cells
from tools.recompute.text import Checker
from tools.recompute.told import FORMS, Told

CONFIG = """
statistics: {confidence: 0.95, resamples: 5000}
measure: {minutes: none}
"""

MARKDOWN = """---
title: "3 of 4"
---

# Results {#sec-results}

Of 4 cells, `one_copy` won in 2
(@fig-x). It took 1.3 ns.

- An item with `code 7`.

```
no 5 numbers here
```

| Message | n |
| --: | --: |
| 1 KiB | 3 |
|  | 4 |

: Cells on `veth`. {#tbl-veth-t1 .grouped}
"""


def test_a_report_is_taken_apart_into_sentences_and_tables() -> None:
    found = list(parts(MARKDOWN))
    sentences = [part for part in found if isinstance(part, Sentence)]
    assert [(one.section, one.text) for one in sentences] == [
        ("sec-results", "Of 4 cells, `one_copy` won in 2."),
        ("sec-results", "It took 1.3 ns."),
        ("sec-results", "An item with `code 7`."),
    ]
    (table,) = [part for part in found if isinstance(part, Table)]
    assert (table.id, table.columns) == ("tbl-veth-t1", ["Message", "n"])
    assert table.rows == [["1 KiB", "3"], ["1 KiB", "4"]]


def test_names_and_references_hold_no_numbers() -> None:
    text = "L1d, i5-10500, x86, tbl-2, 6.18.44-fc and 1.5 or 65,507 B"
    assert NUMBER.findall(text) == ["1.5", "65,507"]


@pytest.mark.parametrize(
    ("kind", "text", "expected", "right"),
    [
        ("x", "0.30", 0.304, True),
        ("x", "0.30", 0.306, False),
        ("x", "1380", 1384.0, True),
        ("x", "1380", 1386.0, False),
        ("x", "1380", math.nan, False),
        ("p", "19 %", 0.193, True),
        ("p", "under 0.1 %", 0.0002, True),
        ("p", "Under 0.1 %", 0.0002, True),
        ("p", "under 0.1 %", 0.0, False),
        ("rate", "43 Gbit/s", 42.9e9, True),
        ("times", "410 µs to 1.20 ms", (411e-6, 1.204e-3), True),
        ("times", "410 µs to 1.20 ms", (411e-6, 1.21e-3), False),
        ("times", "150 to 300 µs", (150.4e-6, 300.2e-6), True),
        ("times", "150 to 300 µs", (156e-6, 300e-6), False),
        ("times", "8.00 µs", (8.003e-6, 8.001e-6), True),
        ("n", "eleven", 11, True),
        ("n", "none", 0, True),
        ("size", "16 KiB", 16384, True),
        ("at", "from 4 KiB up", ([4096, 8192], [1024, 4096, 8192]), True),
        ("at", "up to 4 KiB", ([4096, 8192], [1024, 4096, 8192]), False),
        ("threads", "with 1 and 2 threads", (1, 2), True),
        ("i", "(95 % interval 0.27 to 0.34)", Estimate(0.3, 0.272, 0.338), True),
        ("i", "(95 % interval 0.27 to 0.34)", Estimate(0.3, 0.272, 0.348), False),
        ("i", "(too uncertain for an interval)", Estimate(1.0, 0.1, 10.0), True),
        ("i", "(too uncertain for an interval)", Estimate(1.0, 0.5, 2.0), False),
        ("i", "(observed once, no interval)", Estimate(1.0), True),
    ],
)
def test_a_number_agrees_within_its_printed_precision(
    kind: str, text: str, expected: object, right: bool
) -> None:
    assert agrees(kind, text, expected) is right


def test_slots_are_read_where_they_stand() -> None:
    expression, kinds = compiled("<impl> was faster in <n> of <n> cells <at>")
    match = expression.search("So `one_copy` was faster in two of 28 cells from 4 KiB up.")
    assert match is not None
    said = [read(kind, text) for kind, text in zip(kinds, match.groups(), strict=True)]
    assert said == ["one_copy", 2, 28, (4096,)]


def test_each_file_of_forms_is_read_and_named_like_its_template() -> None:
    folder = Path(sentences.__file__).parent
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == {*sentences.__all__}
    templates = {path.name for path in (folder.parents[2] / "report").rglob("*.j2")}
    for name in sentences.__all__:
        assert {f"{name}.j2", f"{name}_words.j2", f"{name}.qmd.j2"} & templates, name


def test_together_are_the_rounds_and_cells_that_leave_most_values() -> None:
    logs = pd.DataFrame({1: [0.1, 0.3], 2: [0.2, 0.2], 3: [0.5, math.nan]})
    found = estimates.pooled(logs, 0.95)
    assert found.n == 2
    assert found.value == pytest.approx(math.exp(0.2))


def test_ways_are_compared_by_what_each_came_to_beside_its_reference() -> None:
    """The first size has a reference, which was another one once; the second has none."""
    rows = pd.DataFrame(
        [
            ("one_copy", 64, 1, 6.0, "two_copy", 2.0),
            ("one_copy", 64, 2, 6.0, "one_copy", 6.0),
            ("zero_copy", 64, 1, 5.0, "two_copy", 5.0),
            ("two_copy", 64, 1, 9.0, "two_copy", 8.0),
            ("one_copy", 4096, 1, 3.0, None, math.nan),
            ("two_copy", 4096, 1, 2.0, None, math.nan),
        ],
        columns=["implementation", "msg_bytes", "rep", "speed", "reference", "reference_speed"],
    ).assign(n_threads=1)
    logs = relative_of(rows, "speed")
    for pair, ratios in (
        (("one_copy", "two_copy"), [[3.0, math.nan], [1.5, math.nan]]),
        (("one_copy", "zero_copy"), [[3.0, math.nan]]),
    ):
        assert np.exp(pair_of(logs, *pair)).to_numpy() == pytest.approx(
            np.array(ratios), nan_ok=True
        )


def test_the_bootstrap_of_few_values_looks_at_all_resamples() -> None:
    # of three values a, b, c the median is the smallest or the largest in 7 of 27 resamples each
    found = estimates.median(np.array([1.0, math.e, math.e**2]), 0.95)
    error = math.sqrt(14 / 27)
    assert math.log(found.high / found.value) == pytest.approx(4.302653 * error, rel=1e-6)


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.5, 9.0, 9.5], [1.0, 2.0, 4.0, 9.0]])
def test_the_chances_of_resampled_medians_are_those_of_all_resamples(values: list[float]) -> None:
    every = np.log(list(itertools.product(values, repeat=len(values))))
    error = np.median(every, axis=1).std()
    found = estimates.median(np.array(values), 0.95)
    t = stats.t.ppf(0.975, len(values) - 1)
    assert math.log(found.high / found.value) == pytest.approx(t * error)


def test_a_form_without_numbers_that_is_not_so_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "config.yaml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "report/report.qmd").write_text(MARKDOWN, encoding="utf-8")
    sentence = Sentence("sec-x", 1, "No such difference stands after correction.", None, "")
    forms = [(*compiled("No such difference stands"), _fails)]
    monkeypatch.setattr("tools.recompute.text.FORMS", forms)
    assert [one.verdict for one in Checker(tmp_path).check(sentence)] == ["differs"]


def opposed_run(logs: pd.DataFrame) -> Run:
    """Return a run in which every pair has these log ratios."""
    run = object.__new__(Run)
    run.settings = cast("Any", SimpleNamespace(confidence=0.95))
    run.pair = lambda *_: logs  # type: ignore[method-assign]
    return run


OPPOSED = "With `one_copy`, a byte took the two machines more CPU time than with `two_copy` "


@pytest.mark.parametrize(
    ("scatter", "said", "right"),
    [
        (0.2, "for the smaller messages together and less for the larger ones", [None, None]),
        (0.2, "for the larger messages together and less for the smaller ones", "it is"),
        (0.2, "for the lower numbers of threads together and less for the higher ones", "it is"),
        (0.0, "in 4 of 8 cells and less in 4", [None, None, 4, 8, 4]),
        (0.0, "for the smaller messages together and less for the larger ones", "both sides"),
    ],
)
def test_where_cells_contradict_each_other_is_found_again(
    scatter: float, said: str, right: list[int | None] | str
) -> None:
    cells = itertools.product((64, 1024, 16384, 65536), (1, 2))
    index = pd.MultiIndex.from_tuples(cells, names=["msg_bytes", "n_threads"])
    # each cell is off by much from round to round, for which another makes up in every half
    off = np.outer([1, -1, -1, 1] * 2, [scatter, -scatter, 0.0])
    off += np.array([0.001, -0.001, 0.0])
    logs = pd.DataFrame(np.repeat([0.1, -0.1], 4)[:, None] + off, index=index)
    sentence = Sentence("sec-wire", 1, OPPOSED + said + ".", "wire", "")
    ((kinds, match, handler),) = [
        (kinds, match, handler)
        for form, kinds, handler in FORMS
        if (match := form.search(sentence.text))
    ]
    slots = [read(kind, text) for kind, text in zip(kinds, match.groups(), strict=True)]
    told = Told(opposed_run(logs), "wire", sentence)
    if isinstance(right, str):
        with pytest.raises(AssertionError, match=right):
            handler(told, *slots)
    else:
        assert handler(told, *slots) == right


def _fails(_told: Told) -> list[object]:
    raise AssertionError("some do")


@pytest.mark.parametrize(
    ("text", "sizes", "meant"),
    [
        ("5.8 KiB", [2048.0, 5940.5], 5940.5),
        ("12 KiB", [11776, 16384], 12288),
        ("11,776 B", [11776, 12288], 11776),
        ("65,507 B", [65507, 65536], 65507),
    ],
)
def test_only_an_estimated_size_may_be_rounded(text: str, sizes: list[float], meant: float) -> None:
    assert read("size", text, sizes) == meant
    assert read("size", text, [*sizes, meant]) == meant


@pytest.mark.parametrize(
    ("text", "other"), [("1.00", "1.07"), ("0.03", "0.04"), ("28", "30"), ("one", "two")]
)
def test_another_number_reads_differently(text: str, other: str) -> None:
    assert other_number(text) == other


ASKED = """
round_trips:
  implementations: [two_copy, one_copy]
  msg_bytes: [4096]
  n_threads: [1]
  placements: [apart]
streams: {placements: []}
udp: {placements: []}
"""


def test_round_trips_in_turns_are_compared_by_the_ratio_of_each_repetition(tmp_path: Path) -> None:
    paths = []
    for rep, (name, factor) in itertools.product((1, 2, 3), (("two_copy", 1.0), ("one_copy", 1.5))):
        own, its = (with_round_trips(sample_record(one, msg_bytes=4096, rep=rep))
                    for one in (name, "two_copy"))  # fmt: skip
        for record, times in ((own, factor), (its, 1.0)):
            # its level is another one in each repetition
            p50_ns = 20_000.0 * times * (rep + 3 * (name == "one_copy"))
            record["driver"]["sender"]["round_trip"]["p50_ns"] = p50_ns
        paths.append(tmp_path / f"results/raw/{cell_of(own).path.split('raw/')[1]}")
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        paths[-1].write_text(json.dumps(beside(own, its)), encoding="utf-8")
    results = tmp_path / "results"
    (results / "config.yaml").write_text(CONFIG.replace("none}", "none, repetitions: 3}") + ASKED)
    tables = results / "tables"
    tables.mkdir()
    table, _ = collect_round_trips(paths, tables / "round_trips.csv", tables / "curves.csv")
    assert list(wrong_cells(results)) == []
    run = Run(results)
    told = Told(run, "veth", Sentence("sec-round-trips", 1, "", None, ""))
    (found,) = trips_of(told, "one_copy", "p50_ns")
    assert (found[:2], found[2].n) == ((4096, 1), 3)
    assert found[2].value == pytest.approx(1.5)
    assert found[2].high / found[2].low < 1.001
    answer = decision_table(run, "veth", trips=True)[0].answers["speed"]
    assert answer.ways == ["two_copy"]
    for name in ("p50_ns", "reference_p50_ns", "reference_both_cpu_ns_per_round_trip"):
        wrong = table.assign(**{name: table[name] * 1.07})
        wrong.to_csv(tables / "round_trips.csv", index=False)
        lines = list(wrong_cells(results))
        assert len(lines) == 6
        assert all(f": {name} is" in line for line in lines)
