"""Question 3: how threads and contention interact."""

from golden.analysis_facts import (
    AGAINST,
    BOTH,
    CONFIDENCE,
    DOWN,
    EVEN,
    OPEN,
    SHOWN,
    UNKNOWN,
    UP,
    Case,
    Facts,
    explained,
    factor,
    half,
    ratio,
    weighed,
)


def _course(branch: str, course: str, *changes: tuple[int, int, int], **more: object) -> Case:
    told = [{"fewer": one, "more": other, "sign": sign} for one, other, sign in changes]
    facts = {"course": course, "implementations": BOTH, "told": told, "open_from": None}
    return "course", branch, (facts | {"fewest": 1, "most": 8, "up": [], "down": []} | more,)


def _of(found: Facts, name: str = "two_copy") -> Facts:
    return found | {"implementation": name}


def _numbers(branch: str, wholes: list[Facts], verdict: str = "rises") -> Case:
    facts = {"fewest": 1, "most": 8, "wholes": wholes, "verdict": verdict}
    facts |= {"lowest": _of(DOWN), "highest": _of(UP)}
    return "numbers", branch, (facts, " (@fig-throughput)", CONFIDENCE)


def _difference(branch: str, course: str) -> Case:
    row = {"implementation": "two_copy", "course": course, "fewest": 1, "most": 8}
    found = explained("alone", factor("cost", DOWN), factor("use", EVEN), 1)
    return "difference", branch, (row, {"sizes": [1024, 4096], "explained": found}, CONFIDENCE)


def _turns(
    branch: str, found: Facts, sender_only: bool = False, n_cpus: int | None = 2, guests: int = 0
) -> Case:
    return "turns", branch, (found, {"n_cpus": n_cpus, "most": 4}, sender_only, guests)


def _growth(branch: str, found: Facts, *apart: Facts) -> Case:
    return "growth", branch, (found, "CPU time per byte", list(apart), CONFIDENCE)


CELLS = {"n_cells": 21, "n_above": 8, "n_below": 5}
_HALVES = {"n_cells": 21, "n_above": 0, "n_below": 0, "halves": [half(sign=1)]}
_FLAT = {"course": "unsettled", "implementations": BOTH, "told": [], "open_from": None}
_ONCE = {"verdict": "unsettled", "groups": [_FLAT], "observed_once": True}
_SURE = {"observed_once": False, "n_rounds": 3, "n_changes": 18}

CASES: list[Case] = [
    ("verdict", "not measured", ({"verdict": "not_measured"},)),
    ("verdict", "one thread count", ({"verdict": "one_thread_count"},)),
    ("verdict", "observed once", (_ONCE,)),
    _course("rises", "rises", (1, 8, 1)),
    _course("rises, then open", "rises", (1, 2, 1), open_from=2),
    _course("falls", "falls", (1, 8, -1)),
    _course("rises, then falls", "turns", (1, 2, 1), (2, 8, -1)),
    _course("falls, then rises", "turns", (1, 2, -1), (2, 8, 1)),
    _course("sizes contradict each other", "by_size", up=[1024, 4096], down=[65536]),
    _numbers("sizes contradict each other", [], "by_size"),
    _numbers("no whole way", []),
    _numbers("few implementations", [_of(UP), _of(DOWN, "one_copy")]),
    _numbers("many implementations", [_of(UP)] * 5),
    _difference("over all sizes", "rises"),
    _difference("over some", "by_size"),
    _turns("sending threads in turns", weighed("shown", 2.0), sender_only=True),
    _turns("all threads in turns", weighed("shown", 4.0)),
    _turns("each sender its own", weighed("contradicted", 1.0), sender_only=True, n_cpus=8),
    _turns("each its own", weighed("contradicted", 1.0), n_cpus=8),
    _turns("not pinned", UNKNOWN, n_cpus=None),
    _turns("in guests", UNKNOWN, n_cpus=None, guests=2),
    _growth("grew", SHOWN, _of(DOWN, "one_copy")),
    _growth("grew a trifle", weighed("contradicted", ratio(1.01, 1.005, 1.015))),
    _growth("fell", AGAINST),
    _growth("no difference", OPEN),
    _growth("cells contradict each other", weighed("cells_disagree") | CELLS),
    _growth("halves contradict each other", weighed("cells_disagree") | _HALVES),
    *(
        ("contention", found.replace("_", " "), (found,))
        for found in (
            "not_measured", "shown", "contradicted", "contradicted_in_l1d", "contradicted_in_llc",
        )
    ),
    ("alone", "two conditions", ([{"slug": "sink"}, {"slug": "sink_cold"}],)),
    ("untold", "sender only", (True,)),
    ("untold", "both sides", (False,)),
    ("how_sure", "observed once", ({"observed_once": True}, CONFIDENCE)),
    ("how_sure", "several rounds", (_SURE, CONFIDENCE)),
]  # fmt: skip
