"""Where the kernel really did not copy."""

from golden.analysis_facts import (
    HELP,
    LABEL,
    Case,
    Facts,
)

_REAL: Facts = {"lost": [], "copied": [], "alone": ["sink"]}
_SHARES = [{"copied_share": 0.97}, {"copied_share": 1.0}]


_COLD = {"below_bytes": 4096, "above_bytes": 8192}
_HOT = {"below_bytes": 16384, "above_bytes": 49152}
_SMALLER = {"brackets": [_COLD, _HOT], "ratio_low": 4096 / 49152, "ratio_high": 0.5}
_LARGER = {"brackets": [_HOT, _COLD], "ratio_low": 2.0, "ratio_high": 12.0}
_OVERLAPPING = {"brackets": [_HOT, _HOT], "ratio_low": 1 / 3, "ratio_high": 3.0}


def _no_second(branch: str, status: str, **more: object) -> Case:
    return "no_second_answer", branch, (_REAL | {"status": status} | more,)


def _cold(branch: str, verdict: str, measure: str = "throughput", **more: object) -> Case:
    row: Facts = {"implementation": "zero_copy", "slug": "sink_cold", "hot": "sink", "n_threads": 1}
    row |= {"verdict": verdict, "measure": measure, "as_throughput": False, "settled": "neither"}
    row |= {"outcomes": ["undecided", "from"], "observed_once": False, "brackets": None}
    row |= {"better_here": [], "better_hot": []}
    return "cold", branch, (row | more, f"sender {LABEL}")


CASES: list[Case] = [
    _no_second("skipped", "copied", lost=[HELP]),
    _no_second("copied on sink, too", "copied", copied=_SHARES),
    _no_second("copied on two", "copied", copied=_SHARES, alone=["sink", "wire_sink-lab2"]),
    _no_second("sink not asked for", "copied", copied=_SHARES, alone=[]),
    _no_second("not told", "not_told"),
    _no_second("not measured", "not_measured"),
    _cold("settled cold", "untested", settled="here", better_here=[16384]),
    _cold("settled hot", "untested", settled="hot", better_hot=[16384], observed_once=True),
    _cold("settled nowhere", "untested"),
    _cold("no more by cost", "untested", "cost", as_throughput=True),
    _cold("the same by cost", "smaller", "cost", as_throughput=True, **_SMALLER),
    _cold("overlapping", "no_difference", **_OVERLAPPING),
    _cold("smaller", "smaller", **_SMALLER),
    _cold("larger", "larger", "cost", **_LARGER),
    _cold("always on both", "same", outcomes=["always", "always"]),
    _cold("never on either", "same", outcomes=["never", "never"]),
    _cold("always on one", "smaller", outcomes=["always", "from"]),
    _cold("never on one", "larger", outcomes=["never", "from"]),
]
