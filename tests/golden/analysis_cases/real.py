"""Where the kernel really did not copy."""

from golden.analysis_facts import (
    BOTH,
    CONFIDENCE,
    DOWN,
    EVEN,
    HELP,
    LABEL,
    Case,
    Facts,
    one_by_one,
    over_cells,
)

_REAL: Facts = {"lost": [], "copied": [], "asked_for": True}
_SHARES = [{"copied_share": 0.97}, {"copied_share": 1.0}]


_COLD = {"below_bytes": 4096, "above_bytes": 8192}
_HOT = {"below_bytes": 16384, "above_bytes": 49152}
_SMALLER = {"brackets": [_COLD, _HOT], "ratio_low": 4096 / 49152, "ratio_high": 0.5}
_LARGER = {"brackets": [_HOT, _COLD], "ratio_low": 2.0, "ratio_high": 12.0}
_OVERLAPPING = {"brackets": [_HOT, _HOT], "ratio_low": 1 / 3, "ratio_high": 3.0}


def _no_second(branch: str, status: str, **more: object) -> Case:
    return "no_second_answer", branch, (_REAL | {"status": status} | more,)


def _there(working_set: str, sender_only: bool = True, per_llc: float | None = None) -> Facts:
    facts = {"slug": "sink_cold", "sender_only": sender_only, "working_set": working_set}
    return facts | {"quantities": {"ring_per_llc": per_llc}}


def _setting(branch: str, *args: object) -> Case:
    return "setting", branch, (_there(*args), " (@sec-sink-cold-q5)")


def _price(branch: str, found: Facts | None, above: int = 0, below: int = 0) -> Case:
    cost = one_by_one(2, 1, over_cells(found, above, below) if found else None)
    facts: Facts = {"cost_label": f"sender {LABEL}"}
    facts |= {"questions": {"q1": {"rivals": BOTH, "cost": cost}}}
    return "price", branch, (facts, CONFIDENCE)


def _cold(branch: str, verdict: str, measure: str = "throughput", **more: object) -> Case:
    row: Facts = {"implementation": "zero_copy", "slug": "sink_cold", "hot": "sink", "n_threads": 1}
    row |= {"verdict": verdict, "measure": measure, "as_throughput": False, "settled": "neither"}
    row |= {"outcomes": ["undecided", "from"], "observed_once": False, "brackets": None}
    row |= {"better_here": [], "better_hot": []}
    return "cold", branch, (row | more, f"sender {LABEL}")


def _again(macro: str, branch: str, slug: str) -> Case:
    real = _REAL | {"status": "not_told", "pairs": [], "told_at": {"q1": "veth", "q5": "veth"}}
    return macro, branch, ({"slug": slug}, {"real_zero_copy": real})


_NO_BASELINE = {"sink": {"grid": {"implementations": ["one_copy", "zero_copy"]}}}

CASES: list[Case] = [
    _again("fastest_again", "here", "veth"),
    _again("fastest_again", "told before", "loopback"),
    _again("zero_copy_again", "here", "veth"),
    _again("zero_copy_again", "told before", "loopback"),
    ("crossovers_there", "no baseline", ({"slug": "sink"}, {"conditions": _NO_BASELINE})),
    _no_second("skipped", "copied", lost=[HELP]),
    _no_second("copied on sink, too", "copied", copied=_SHARES),
    _no_second("sink not asked for", "copied", copied=_SHARES, asked_for=False),
    _no_second("not told", "not_told"),
    _no_second("not measured", "not_measured"),
    _price("not measured", None),
    _price("no difference", EVEN),
    _price("a difference", DOWN),
    _price("cells contradict each other", DOWN, 2, 1),
    ("not_copied", "sender only", ({"copied_share": 0.0}, _there("hot"))),
    ("not_copied", "both sides", ({"copied_share": 0.0}, _there("hot", False))),
    _setting("sender, hot", "hot"),
    _setting("sender, memory", "cold", True, 4.0),
    _setting("sender, ring", "16777216"),
    _setting("hot", "hot", False),
    _setting("memory", "cold", False, 4.0),
    _setting("ring", "cold", False),
    _cold("settled cold", "untested", settled="here", better_here=[16384]),
    _cold("settled hot", "untested", settled="hot", better_hot=[16384], observed_once=True),
    _cold("settled nowhere", "untested"),
    _cold("no more by cost", "untested", "cost", as_throughput=True),
    _cold("overlapping", "no_difference", **_OVERLAPPING),
    _cold("smaller", "smaller", **_SMALLER),
    _cold("larger", "larger", "cost", **_LARGER),
    _cold("always on both", "same", outcomes=["always", "always"]),
    _cold("never on either", "same", outcomes=["never", "never"]),
    _cold("always on one", "smaller", outcomes=["always", "from"]),
    _cold("never on one", "larger", outcomes=["never", "from"]),
]
