"""How clean the measurements were."""

from golden.analysis_facts import (
    Case,
    Facts,
)


def _without(
    branch: str, compared: int, changed: int = 0, reversed_: int = 0, once: int = 0, none: int = 0
) -> Case:
    facts = {"n_compared": compared, "n_changed": changed, "n_reversed": reversed_}
    lost = {"n_left_once": once, "n_left_none": none, "n_lost": once + none}
    return "without", branch, (facts | lost | {"n_all": compared + once + none},)


def _drift(branch: str, last: float, least: float, *, moved: bool, monotone: bool) -> Case:
    ends = {
        "lowest": {"value": least, "round": 2},
        "highest": {"value": max(last, 1.0), "round": 1},
    }
    return "drift", branch, (ends | {"last": last, "moved": moved, "monotone": monotone},)


def _passed(branch: str, cells: int, clean: int, drift: Facts | None = None) -> Case:
    return "passed", branch, ({"n_cells": cells, "n_clean": clean, "round_drift": drift}, "veth")


_FELL = {
    "moved": True, "monotone": True, "last": 0.9,
    "lowest": {"value": 0.9, "round": 3}, "highest": {"value": 1.0, "round": 1},
}  # fmt: skip
_SAME = {"n_compared": 6, "n_changed": 0, "n_reversed": 0, "n_left_once": 0, "n_left_none": 0}


def _flags(status: str, n: int, warned: int = 0, warnings: Facts | None = None) -> Facts:
    without = _SAME | {"status": status, "n_repetitions": n}
    facts = {"n_measured": 18, "n_warned": warned, "warnings": warnings or {}}
    return facts | {"without_flagged": without, "without_warned": without}


_STEAL = {"steal": 18, "foreign_load": 2}

CASES: list[Case] = [
    _without("nothing left", 0, none=6),
    _without("single rounds left", 0, once=4),
    _without("hardly any left", 4, 1, once=6, none=74),
    _without("the same", 6, once=2),
    _without("all reversed", 6, 2, 2),
    _without("some reversed", 6, 2, 1),
    _without("none reversed", 6, 2),
    _drift("not seen", 0.99, 0.98, moved=False, monotone=False),
    _drift("fell", 0.93, 0.93, moved=True, monotone=True),
    _drift("rose", 1.12, 1.0, moved=True, monotone=True),
    _drift("there and back", 0.93, 0.84, moved=True, monotone=False),
    ("modes", "one", ({"modes": [{}]}, "veth")),
    ("modes", "several", ({"modes": [{}, {}, {}]}, "veth")),
    ("modes", "none", ({"modes": [], "modes_told": True}, "veth")),
    ("modes", "not told", ({"modes": [], "modes_told": False}, "veth")),
    _passed("all", 6, 6, _FELL),
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
