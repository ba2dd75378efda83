"""Answers and tables of the report, from findings and facts that are made by hand."""

import math

from copycost.analysis.finding import MEAN, Finding
from copycost.report.questions import expectations_answer, expectations_table


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
