"""Question 3: how threads and contention interact."""

from golden.analysis_facts import (
    AGAINST,
    BOTH,
    CONFIDENCE,
    DOWN,
    OPEN,
    SHOWN,
    UNKNOWN,
    UP,
    Case,
    Facts,
    ratio,
    weighed,
)


def _shape(branch: str, shape: str, n_steps: int = 3, gains_up_to: int | None = None) -> Case:
    facts = {"shape": shape, "implementations": BOTH, "n_steps": n_steps, "fewest": 1, "most": 8}
    return "shape", branch, (facts | {"gains_up_to": gains_up_to},)


def _of(found: Facts, name: str = "two_copy") -> Facts:
    return found | {"implementation": name}


def _scaling(branch: str, wholes: list[Facts], service: list[Facts]) -> Case:
    facts = {"fewest": 1, "most": 8, "wholes": wholes, "service": service}
    facts |= {"lowest": _of(DOWN), "highest": _of(UP), "shortest": _of(DOWN), "longest": _of(UP)}
    return "numbers", branch, (facts, " (@fig-throughput)", " (@fig-service-time)", CONFIDENCE)


def _turns(branch: str, found: Facts, sender_only: bool = False, n_cpus: int | None = 2) -> Case:
    return "turns", branch, (found, {"n_cpus": n_cpus, "most": 4}, sender_only)


def _growth(branch: str, found: Facts, *apart: Facts) -> Case:
    return "growth", branch, (found, "CPU time per byte", list(apart), CONFIDENCE)


_FLAT = {"shape": "flat", "implementations": BOTH, "n_steps": 1, "fewest": 1, "most": 2}

CASES: list[Case] = [
    ("verdict", "not measured", ({"verdict": "not_measured"},)),
    ("verdict", "one thread count", ({"verdict": "one_thread_count"},)),
    ("verdict", "observed once", ({"verdict": "flat", "shapes": [_FLAT], "observed_once": True},)),
    _shape("one step up", "gains", 1),
    _shape("one step down", "falls", 1),
    _shape("gains", "gains"),
    _shape("gains, then flat", "gains_then_flat", gains_up_to=4),
    _shape("gains, then flat, from different counts", "gains_then_flat"),
    _shape("gains, then falls", "gains_then_falls", gains_up_to=4),
    _shape("gains, then falls, from different counts", "gains_then_falls"),
    _shape("falls", "falls"),
    _shape("gains somewhere", "gains_somewhere"),
    _shape("flat", "flat"),
    _shape("mixed", "mixed"),
    _scaling("no whole way", [], []),
    _scaling("few implementations", [_of(UP), _of(DOWN, "one_copy")], [_of(UP)]),
    _scaling("many implementations", [_of(UP)] * 5, [_of(UP)] * 5),
    _turns("sending threads in turns", weighed("shown", 2.0), sender_only=True),
    _turns("all threads in turns", weighed("shown", 4.0)),
    _turns("each sender its own", weighed("contradicted", 1.0), sender_only=True, n_cpus=8),
    _turns("each its own", weighed("contradicted", 1.0), n_cpus=8),
    _turns("not pinned", UNKNOWN, n_cpus=None),
    _growth("grew", SHOWN, _of(DOWN, "one_copy")),
    _growth("grew a trifle", weighed("contradicted", ratio(1.01, 1.005, 1.015))),
    _growth("fell", AGAINST),
    _growth("no difference", OPEN),
    *(
        ("contention", found.replace("_", " "), (found,))
        for found in (
            "not_measured", "shown", "contradicted", "contradicted_in_l1d", "contradicted_in_llc",
        )
    ),
    ("untold", "sender only", (True,)),
    ("untold", "both sides", (False,)),
    ("how_sure", "observed once", ({"observed_once": True}, CONFIDENCE)),
    ("how_sure", "several rounds", ({"observed_once": False, "n_rounds": 3}, CONFIDENCE)),
]  # fmt: skip
