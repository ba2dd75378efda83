"""How clean the measurements were."""

from golden.analysis_facts import (
    Case,
    Facts,
)


def _without(
    branch: str, compared: int, changed: int = 0, reversed_: int = 0, once: int = 0
) -> Case:
    facts = {"n_compared": compared, "n_changed": changed, "n_reversed": reversed_}
    return "without", branch, (facts | {"n_left_once": once},)


def _passed(branch: str, cells: int, clean: int, drift: float | None = None) -> Case:
    return "passed", branch, ({"n_cells": cells, "n_clean": clean, "round_drift": drift}, "veth")


_SAME = {"n_compared": 6, "n_changed": 0, "n_reversed": 0, "n_left_once": 0}


def _flags(status: str, n: int, warned: int = 0, warnings: Facts | None = None) -> Facts:
    without = _SAME | {"status": status, "n_repetitions": n}
    facts = {"n_measured": 18, "n_warned": warned, "warnings": warnings or {}}
    return facts | {"without_flagged": without, "without_warned": without}


_STEAL = {"steal": 18, "foreign_load": 2}

CASES: list[Case] = [
    _without("nothing left", 0),
    _without("single rounds left", 0, once=4),
    _without("the same", 6, once=2),
    _without("all reversed", 6, 2, 2),
    _without("some reversed", 6, 2, 1),
    _without("none reversed", 6, 2),
    _passed("all", 6, 6, 1.04),
    _passed("one cell", 1, 1),
    _passed("not the one cell", 1, 0),
    _passed("some", 6, 2),
    _passed("none", 6, 0),
    ("disturbed", "no", (_flags("none", 0),)),
    ("disturbed", "throughout", (_flags("all", 18, 18, _STEAL),)),
    ("disturbed", "in part", (_flags("compared", 2, 2, {"throttled": 2}),)),
    ("flagged", "none", (_flags("none", 0),)),
    ("flagged", "all", (_flags("all", 18),)),
    ("flagged", "more than were warned", (_flags("compared", 5, 2, {"throttled": 2}),)),
]
