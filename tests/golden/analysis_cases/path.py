"""What the caches and the path have to do with it."""

from collections.abc import Sequence

from golden.analysis_facts import (
    UNKNOWN,
    Case,
    Facts,
    weighed,
)


def _level(level: str, share: float | None, n_threads: int | None = None) -> Facts:
    size = {"l1d": 49152, "l2": 2097152, "llc": 33554432}[level]
    return {"level": level, "share": share, "size_bytes": size, "n_threads": n_threads}


def _fit(
    branch: str,
    over: Sequence[Facts] = (),
    within: Sequence[Facts] = (),
    unknown: Sequence[Facts] = (),
) -> Case:
    fit = {"over": list(over), "within": list(within), "unknown": list(unknown)}
    return "message_and_caches", branch, (fit, 131072)


def _lost(
    branch: str, found: Facts, sender_only: bool = False, transport: str = "datagram"
) -> Case:
    facts = {"transport": transport, "sender_only": sender_only}
    return "losses", branch, (facts | {"evidence": {"datagrams_lost": found}},)


_L1D, _L2 = _level("l1d", 2.67), _level("l2", 0.0625)
_LLC = _level("llc", 0.016, 4)

CASES: list[Case] = [
    ("ring_and_caches", "unknown caches", (None, "cold")),
    ("ring_and_caches", "within", (0.52, "16777216")),
    ("ring_and_caches", "cold", (4.0, "cold")),
    ("ring_and_caches", "of another size", (1.0, "67108864")),
    _fit("over and within", [_L1D], [_L2, _LLC]),
    _fit("within", (), [_L1D | {"share": 0.5}]),
    _fit("over, the rest unknown", [_L1D], (), [_L2, _LLC]),
    _fit("unknown", (), (), [_L1D]),
    _lost("not measured", UNKNOWN),
    _lost("lost before the hook", weighed("shown", 0.02), sender_only=True),
    _lost("hardly any lost before the hook", weighed("contradicted", 0.0004), sender_only=True),
    _lost("none lost before the hook", weighed("contradicted", 0.0), sender_only=True),
    _lost("lost", weighed("shown", 0.1)),
    _lost("hardly any lost", weighed("contradicted", 0.0004)),
    _lost("none lost", weighed("contradicted", 0.0)),
    ("slots", "waited", (weighed("shown", 0.3),)),
    ("segments", "datagrams", ({"transport": "datagram", "mtu_bytes": 65535.0},)),
    ("segments", "datagrams, unknown path", ({"transport": "datagram", "mtu_bytes": None},)),
    ("cut_segments", "by the CPU in part", (weighed("shown", 0.4),)),
    ("cut_segments", "by the CPU", (weighed("shown", 0.0),)),
    ("cut_segments", "not by the CPU", (weighed("contradicted", 1.0),)),
    ("cut_segments", "not measured", (UNKNOWN,)),
    ("segments_sent_again", "many", (weighed("shown", 3.1),)),
    ("segments_sent_again", "few", (weighed("contradicted", 0.3),)),
    ("segments_sent_again", "none", (weighed("contradicted", 0.0),)),
    ("segments_sent_again", "not measured", (UNKNOWN,)),
]
