"""What a difference in throughput consists of."""

from golden.analysis_facts import (
    CONFIDENCE,
    DOWN,
    EVEN,
    UP,
    Case,
    Facts,
    explained,
    factor,
    half,
    ratio,
)


def _factors(branch: str, *arguments: object) -> Case:
    return "factors", branch, (explained(*arguments), CONFIDENCE)


def _about(branch: str, *arguments: object, **more: object) -> Case:
    return "factors_about", branch, (explained(*arguments) | more,)


def _rate(
    branch: str, name: str, found: Facts | None = UP, share: float | None = None, **more: object
) -> Case:
    facts = {"name": name, "here": 2033.0, "there": 3.7, "ratio": found, "contradict": False}
    return "rate", branch, (facts | more, share)


_MIXED = {"contradict": True, "n_cells": 28, "n_above": 16, "n_below": 4}
_HALVES = {"contradict": True, "n_cells": 28, "n_above": 0, "n_below": 4, "halves": [half()]}
_RATE = {"name": "calls", "here": 1.4, "there": 1.0, "ratio": UP, "contradict": False}

CASES: list[Case] = [
    _factors("cost, unsettled", "unsettled", factor("cost", EVEN), factor("use", EVEN)),
    _factors("use, unsettled", "unsettled", factor("use", EVEN), factor("cost", EVEN)),
    _factors("cost alone", "alone", factor("cost", DOWN), factor("use", EVEN)),
    _factors("use alone", "alone", factor("use", DOWN), factor("cost", EVEN), 1),
    _factors("cost and use", "both", factor("cost", DOWN), factor("use", ratio(0.9, 0.85, 0.95))),
    _factors("use and cost", "both", factor("use", DOWN), factor("cost", DOWN)),
    _factors("cost, against use", "against", factor("cost", DOWN), factor("use", UP)),
    _factors("use, against cost", "against", factor("use", DOWN), factor("cost", UP)),
    _factors("cells contradict", "both", factor("cost", DOWN, 2, 4), factor("use", DOWN, 1, 4)),
    _factors("halves contradict", "both", factor("cost", DOWN, 0, 3, half()),
             factor("use", DOWN, 1, 0, half(sign=1))),
    _about("cost, unsettled", "unsettled", factor("cost", EVEN), factor("use", EVEN)),
    _about("use, unsettled", "unsettled", factor("use", EVEN), factor("cost", EVEN)),
    _about("cost alone", "alone", factor("cost", DOWN), factor("use", EVEN)),
    _about("use alone", "alone", factor("use", DOWN), factor("cost", EVEN), 1),
    _about("cost and use", "both", factor("cost", DOWN), factor("use", ratio(0.9, 0.85, 0.95))),
    _about("use and cost", "both", factor("use", DOWN), factor("cost", DOWN)),
    _about("cost, against use", "against", factor("cost", DOWN), factor("use", UP)),
    _about("use, against cost", "against", factor("use", DOWN), factor("cost", UP)),
    _about("cells contradict", "both", factor("cost", DOWN, 2, 4), factor("use", DOWN, 1, 4)),
    _about("instructions counted", "alone", factor("cost", DOWN), factor("use", EVEN),
           instructions=UP, pace=DOWN),
    ("work", "instructions counted", ({"instructions": UP, "pace": DOWN}, CONFIDENCE)),
    ("sides", "both", (explained("alone", factor("cost", DOWN), factor("use", EVEN)),)),
    _rate("calls", "calls"),
    _rate("calls, more and fewer", "calls", **_MIXED),
    _rate("calls, by the sizes", "calls", **_HALVES),
    _rate("switches", "switches"),
    _rate("switches, more and fewer", "switches", **_MIXED),
    _rate("switches, by the sizes", "switches", **_HALVES),
    _rate("segments", "resent", None),
    _rate("segments of a known size", "resent", None, 0.003),
    _rate("faults", "faults", None),
    ("rates", "one differs", ({"differ": [_RATE], "alike": ["switches", "faults"],
                               "resent_share": None},)),
]  # fmt: skip
