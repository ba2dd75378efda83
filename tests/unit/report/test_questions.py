"""Answers and tables of the report, from findings and facts that are made by hand."""

import math

from copycost.analysis.finding import MEAN, Finding
from copycost.report.questions import expectations_answer, expectations_table
from copycost.report.tables import ranking as ranking_table
from copycost.wording.markdown import Table


def violated(name: str, strongest: float, mean: float, n_worse: int) -> Finding:
    about = {
        "question": "expectation", "condition": "veth", "subject": name, "verdict": "violated",
        "reference": f"{name.title()} it is", "n_cells": 12, "n_better": 0, "n_worse": n_worse,
    }  # fmt: skip
    case = Finding(
        **about | {"subject": "one_copy", "reference": "two_copy"},
        reference_condition="sink",
        msg_bytes=(1024, 65536),
        n_threads=(2,),
        estimate=strongest,
        low=0.9 * strongest,
        high=1.1 * strongest,
    )
    return Finding(**about, reasons=(case, Finding(**about, quantity=MEAN, estimate=mean)))


FINDINGS = [violated("faster", 1.4, math.exp(0.4 / 12), 1), violated("cheaper", 1.1, 1.1, 12)]


def test_what_is_violated_throughout_comes_before_what_is_violated_once_and_strongly() -> None:
    assert expectations_answer(FINDINGS).replace("\u00a0", " ") == (
        "*Cheaper it is* was expected, and contradicted on `veth` by 12 of 12 comparisons; of "
        "those that were violated, this one most."
    )
    _, ((*_, strongest), _) = expectations_table(FINDINGS[::-1])
    assert strongest.replace("\u00a0", " ") == (
        "1.10 (0.99 to 1.21): `veth`, `one_copy` against `two_copy`, compared with `sink`, "
        "1 KiB to 64 KiB, 2 threads"
    )


def rows_of(table: Table) -> list[list[str]]:
    titles, rows = table
    return [
        [cell.replace("\u00a0", " ").removeprefix(">") for cell in row] for row in (titles, *rows)
    ]


def place(implementation: str, median: float, **changed: object) -> dict:
    row = {"implementation": implementation, "rank": 1, "place_low": 1, "place_high": 2, "n": 3}
    row |= {"median": median, "low": median * 0.9, "high": median * 1.1, "floor_ratio": 4.0}
    return row | changed


def condition(*rows: dict, side: str = "both", floor: float | None = None) -> dict:
    sizes = [{"msg_bytes": 4096, "rows": list(rows), "floor_ns_per_byte": floor}]
    return {
        "labels": {"zero_copy": "zero-copy requested, 40 % copied"},
        "ranking": {"unit": "ns", "side": side, "sizes": sizes},
    }


def test_ranking_gives_place_cost_interval_and_multiple_of_a_copy() -> None:
    once = place("two_copy", 0.4, low=None, high=None, n=1, place_low=1, place_high=1)
    vague = place("zero_copy", 0.4, low=0.01, high=9.0, floor_ratio=None)
    found = ranking_table(condition(place("one_copy", 0.4), once, vague, floor=0.1))
    assert rows_of(found) == [
        ["Message", "Place", "Implementation", "ns per byte", "Interval", "Copies", "n"],
        ["4 KiB", "1 to 2", "`one_copy`", "0.400", "0.360 to 0.440", "4.00", "3"],
        ["", "1", "`two_copy`", "0.400", "---", "4.00", "1"],
        ["", "1 to 2", "`zero_copy`†", "0.400", "too wide", "---", "3"],
    ]
    alone = ranking_table(condition(place("two_copy", 1.0, floor_ratio=None), side="sender"))
    assert "Copies" not in rows_of(alone)[0]
