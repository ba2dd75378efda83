"""Words that several answers share."""

from golden.analysis_facts import (
    CONFIDENCE,
    LABEL,
    Case,
    Facts,
    pair,
)

_ONE_ROUND = {"observed_once": True, "n_rounds": 1, "n_rounds_max": 1}
_NOTHING: Facts = {"ring_bytes": None, "ring_per_llc": None, "mapped_share": None}


def _sure(branch: str, found: Facts) -> Case:
    return "how_sure", branch, (found, CONFIDENCE)


def _stands(branch: str, found: Facts) -> Case:
    return "stands", branch, (found,)


def _path(
    branch: str,
    testbed: str = "veth",
    fresh: bool = False,
    mapped: float | None = None,
    **more: object,
) -> Case:
    quantities = _NOTHING | {"mapped_share": mapped}
    facts = {"slug": testbed, "testbed": testbed, "sender_only": testbed == "sink"}
    facts |= {"receiver": "recv", "working_set": "hot", "quantities": quantities, "path": None}
    facts |= {"placement": "apart", "guests": 0, "emulated": False}
    return "path_of", branch, (facts | more, {"method": {"fresh": fresh}})


def _ring(branch: str, ring_bytes: int | None, per_llc: float | None, where: str = "cold") -> Case:
    quantities = {"ring_bytes": ring_bytes, "ring_per_llc": per_llc}
    return "ring", branch, ({"working_set": where, "quantities": quantities},)


_LOST = {"n": 12, "reason": "no right to make network namespaces", "remedy": "run as root"}
_FAILED = {"n": 1, "reason": "the receiver ended early", "remedy": None}


def _missing(branch: str, failed: int, skipped: int) -> Case:
    facts = {"slug": "veth", "n_repetitions": 36, "n_failed": failed, "n_skipped": skipped}
    return "missing", branch, (facts,)


CASES: list[Case] = [
    ("observed_once", "yes", (True,)),
    *(
        (
            "in_what",
            reason,
            ({"measured_conditions": names, "cost": {"reason": reason, "label": LABEL}},),
        )
        for reason, names in (
            ("nothing", []),
            ("cycles_counted", ["veth"]),
            ("not_counted", ["veth"]),
            ("cycles_user_mode_only", ["veth"]),
            ("no_cycles", ["veth"]),
        )
    ),
    (
        "not_measured",
        "skipped and failed",
        ({"slug": "veth", "skipped": [_LOST], "failed": [_FAILED]},),
    ),
    _missing("failed", 2, 0),
    _missing("skipped", 0, 1),
    _missing("both", 2, 1),
    _sure("nothing compared", pair()),
    _sure("one round", pair("undecided", 2, **_ONE_ROUND)),
    _sure("one round in some cells", pair("undecided", 2, **_ONE_ROUND | {"n_rounds_max": 3})),
    _sure("one comparison", pair("undecided", 1)),
    _sure("few comparisons", pair("undecided", 2, 1, 1)),
    _sure("many comparisons, rounds missing", pair("undecided", 1, 0, 27, n_rounds_max=5)),
    _sure("none stands", pair("undecided", 2, 1, n_sure=0)),
    _stands("nothing compared", pair()),
    _stands("one round", pair("undecided", 2, **_ONE_ROUND)),
    _stands("one round in some cells", pair("undecided", 2, **_ONE_ROUND | {"n_rounds_max": 3})),
    _stands("some stand", pair("undecided", 2, 1, 1)),
    _stands("none stands", pair("undecided", 2, 1, n_sure=0)),
    _path("loopback", "loopback"),
    _path("veth"),
    _path("veth without offloads", "veth_no_offload"),
    _path("UDP", "veth_udp"),
    _path(
        "dropped by another machine",
        "wire_sink-lab2",
        sender_only=True,
        path="the network to lab2, which counts and drops what this machine sends",
    ),
    _path(
        "a testbed without words of its own", "veth_narrow", path="a veth pair with small packets"
    ),
    _path("sink", "sink"),
    _path("guests", "vm_pair", path="two guests and a bridge", guests=2),
    _path("emulated guests", "vm_pair", path="two guests and a bridge", guests=2, emulated=True),
    _path("a foreign testbed, written anew", "their_lab", fresh=True),
    _path("receiver that discards", receiver="trunc"),
    _path("receiver that maps", receiver="mmap", mapped=0.98),
    _path("receiver by io_uring", receiver="uring"),
    _path("both ends on one CPU", placement="same"),
    _path("placed by the scheduler", placement="free"),
    _path("cold", working_set="cold"),
    _ring("of unknown size", None, None),
    _ring("of unknown caches", 1 << 30, None),
    _ring("beyond the caches", 1 << 30, 4.0),
    _ring("within the caches", 1 << 24, 0.52, "16777216"),
]
