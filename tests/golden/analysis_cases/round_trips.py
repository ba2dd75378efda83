"""Round trips."""

from golden.analysis_facts import (
    CONFIDENCE,
    EVEN,
    ONCE,
    UP,
    Case,
    Facts,
    ratio,
)

_TRIP = {"percentile": "p50_ns", "n_threads": 1}
_SLOW = ratio(1.35, 1.3, 1.4) | _TRIP | {"msg_bytes": 4096}
_SAME_TRIP = EVEN | _TRIP | {"msg_bytes": 64}


def _trips(macro: str, branch: str, *rows: Facts, several: bool = False) -> Case:
    apart = [row for row in rows if row["sign"]]
    return macro, branch, (apart, [row for row in rows if not row["sign"]], CONFIDENCE, several)


def _trips_sure(branch: str, n_sure: int, found: Facts = UP, n_warned: int = 0) -> Case:
    facts = {"ratios": [found], "n_compared": 24, "n_sure": n_sure, "n_warned": n_warned}
    return "how_sure", branch, (facts | {"n_measured": 36, "warnings": {"steal": n_warned}},)


CASES: list[Case] = [
    ("way", "no percentile", ("one_copy", [], "two_copy", CONFIDENCE, False)),
    *(
        _trips(macro, *case, several=several)
        for macro in ("median", "percentile_99")
        for several, *case in (
            (False, "longer at one size", _SLOW, _SAME_TRIP),
            (True, "longer with two thread counts", _SLOW, _SLOW | {"n_threads": 2}),
            (False, "no difference", _SAME_TRIP, _SAME_TRIP),
            (False, "no difference at the one size", _SAME_TRIP),
        )
    ),
    _trips_sure("observed once", 0, ONCE),
    _trips_sure("some stand", 8),
    _trips_sure("none stands, disturbed", 0, n_warned=1),
    ("beside_two_copy", "nothing to compare", (
        {"labels": {}, "implementations": [], "n_threads": [1], "n_compared": 0, "ratios": []}
        | {"n_warned": 0}, {"baseline": "two_copy"}, CONFIDENCE,
    )),
]  # fmt: skip
