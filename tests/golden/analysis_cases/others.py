"""The other ways to send."""

from golden.analysis_facts import (
    CONFIDENCE,
    DOWN,
    EVEN,
    GRID,
    HELP,
    LABEL,
    NO_HELP,
    UP,
    Case,
    Facts,
    half,
    over_cells,
    pair,
)

_UP, _DOWN, _EVEN = over_cells(UP), over_cells(DOWN), over_cells(EVEN)


def _together(
    branch: str, throughput: Facts | None, calls: Facts | None, cost: Facts | None
) -> Case:
    facts = {"implementation": "sendmmsg_x16", "baseline": "sendmmsg", "throughput": throughput}
    facts |= {"system_calls": calls, "cost": cost}
    return "together", branch, (facts, {"cost_label": LABEL}, CONFIDENCE)


def _uring(found: Facts) -> Facts:
    at = found | {"msg_bytes": 4096, "n_threads": 1}
    return {"implementation": "uring_zero_copy", "baseline": "zero_copy", "at": at}


def _copies(copies: str, uring: float | None, other: float) -> Case:
    shares = {"uring": uring, "msg_zerocopy": other}
    return "copies", copies, ({"copies": copies, "copied_share": shares},)


def _answer() -> Case:
    both = {"throughput": _UP, "system_calls": _DOWN, "cost": _DOWN}
    uring = (
        _uring(UP) | both | {"copies": "alike", "copied_share": {"uring": 1.0, "msg_zerocopy": 1.0}}
    )
    uring["notifications_per_send"] = {"uring": 1.0, "msg_zerocopy": 1.0}
    batch = {"batch": 16, "implementation": "sendmmsg_x16", "baseline": "sendmmsg"} | both
    found = {"ways": [], "lost": [], "uring": uring, "batches": [batch]}
    t = {"others": found, "name": "veth", "slug": "veth", "cost_label": LABEL}
    return (
        "answer",
        "io_uring and batches",
        (t, [], {"method": {"statistics": {"confidence": CONFIDENCE}}}),
    )


_APART = over_cells(UP, 4, 2)
_HALVES = over_cells(UP, 3, 0, half(sign=1))
_WAY = pair("undecided", 2, 0, 4, implementation="sendfile")

CASES: list[Case] = [
    (
        "way",
        "a difference over all",
        (_WAY, _DOWN, {"grid": GRID, "cost_label": LABEL}, CONFIDENCE),
    ),
    _together("nothing in common", None, None, None),
    _together("differences", _UP, _DOWN, _DOWN),
    _together("no differences", _EVEN, _EVEN, _EVEN),
    _together("cells contradict each other", _APART, _APART, _APART),
    _together("halves contradict each other", _HALVES, _HALVES, _HALVES),
    _together("throughput alone", _UP, None, None),
    ("at_one_size", "a difference", (_uring(UP), CONFIDENCE)),
    ("at_one_size", "no difference", (_uring(EVEN), CONFIDENCE)),
    ("notified", "both", ({"uring": 1.0, "msg_zerocopy": 0.12},)),
    ("notified", "not both", ({"uring": 1.0, "msg_zerocopy": None},)),
    _copies("alike", 1.0, 1.0),
    _copies("differ", 0.0, 1.0),
    _copies("unknown", None, 1.0),
    ("by_chance", "none", (0, "")),
    ("by_chance", "one", (1, " (@fig-veth-throughput)")),
    ("by_chance", "several", (9, " (@fig-veth-throughput)")),
    _answer(),
    ("not_measured", "with a remedy", (HELP,)),
    ("not_measured", "without", (NO_HELP,)),
]
