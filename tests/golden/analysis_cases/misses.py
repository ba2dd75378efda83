"""Question 2: which cache level's misses fall most."""

from golden.analysis_facts import (
    CONFIDENCE,
    DOWN,
    EVEN,
    LABEL,
    ONCE,
    OPEN,
    UNKNOWN,
    UP,
    Case,
    Facts,
    half,
    over_cells,
    weighed,
)


def _fall(found: Facts, level: str = "l1d_load_misses") -> Facts:
    lowest = {"ratio": 0.52, "msg_bytes": 65536, "n_threads": 2}
    return over_cells(found) | {"implementation": "one_copy", "level": level, "lowest": lowest}


def _misses(branch: str, verdict: str, **more: object) -> Case:
    return "verdict", branch, ({"verdict": verdict, "only_level": False, "deepest": None} | more,)


def _gaps(branch: str, status: str, reason: str | None = None) -> Case:
    return (
        "gaps",
        branch,
        ({"levels": {"llc_load_misses": status}}, {"llc_load_misses": {"reason": reason}}),
    )


def _cost(branch: str, cost: Facts) -> Case:
    return "cost", branch, (cost | {"implementation": "one_copy"}, LABEL, CONFIDENCE)


CASES: list[Case] = [
    _misses("not measured", "not_measured"),
    _misses("not counted", "not_counted"),
    _misses("not compared", "not_compared"),
    _misses("no fall", "no_fall"),
    _misses("fall of the only level", "fall", only_level=True, deepest=_fall(DOWN)),
    _misses("fall", "fall", deepest=_fall(DOWN)),
    ("fall", "fewer", (_fall(DOWN), CONFIDENCE)),
    ("fall", "cells contradict each other", (_fall(EVEN) | over_cells(EVEN, 2, 4), CONFIDENCE)),
    (
        "fall",
        "halves contradict each other",
        (_fall(EVEN) | over_cells(EVEN, 0, 3, half("n_threads")), CONFIDENCE),
    ),
    ("fall", "no difference", (_fall(EVEN, "llc_load_misses"), CONFIDENCE)),
    _gaps("zero", "zero"),
    _gaps("not counted", "not_counted"),
    _gaps("not counted, with a reason", "not_counted", "no such counter"),
    _cost("a difference", over_cells(DOWN)),
    _cost("no difference", over_cells(EVEN)),
    _cost("cells contradict each other", over_cells(UP, 4, 2)),
    _cost("halves contradict each other", over_cells(UP, 4, 0, half("n_threads", 1))),
    ("uncounted", "two conditions", ([{"slug": "veth"}, {"slug": "sink"}],)),
    ("follows_cache_size", "left open", (OPEN, CONFIDENCE)),
    ("follows_cache_size", "shown", (weighed("shown", DOWN), CONFIDENCE)),
    ("follows_cache_size", "contradicted", (weighed("contradicted", UP), CONFIDENCE)),
    ("follows_cache_size", "not measured", (UNKNOWN, CONFIDENCE)),
    ("how_sure", "observed once", ([ONCE], CONFIDENCE)),
    ("how_sure", "several rounds", ([DOWN, EVEN], CONFIDENCE)),
]
