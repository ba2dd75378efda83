"""What is no profile is refused."""

from collections import Counter
from typing import Any

import pytest

from copycost.measure.drivers.protocol import NoMeasurement
from copycost.perf.stacks import UNKNOWN, Stacks
from copycost.studies.profile.repetition import require_samples, require_stacks
from copycost.studies.profile.runs import Run


def test_a_profile_whose_call_stacks_perf_discarded_is_refused() -> None:
    known = Stacks(Counter({"main;send;tcp_sendmsg_[k]": 90, UNKNOWN: 10}), samples=100)
    require_stacks({"sender": known, "receiver": Stacks()})
    discarded = Stacks(Counter({"main;send;tcp_sendmsg_[k]": 2, UNKNOWN: 98}), samples=100)
    with pytest.raises(
        NoMeasurement, match=r"call stacks of 98% of the sender's samples"
    ) as refused:
        require_stacks({"sender": discarded, "receiver": known})
    assert "-fno-omit-frame-pointer" in refused.value.verdict.remedy


def sampled(source: str, samples: int, cpu_s: float) -> tuple[dict[str, Any], Run]:
    """Return what was sampled at 1000 Hz of a sender with so much CPU time."""
    sampling = {
        "event": "cpu-clock" if source == "timer" else "cycles",
        "source": source,
        "frequency_hz": 1000,
        "sides": {"sender": {"samples": samples, "weight": samples}},
    }
    return sampling, Run(1.0, 1, {"sender": cpu_s * 1e9}, None, None)


@pytest.mark.parametrize(
    ("source", "samples", "cpu_s"),
    [("timer", 520, 1.0), ("hardware", 120, 1.0), ("timer", 0, 0.001)],
)
def test_a_profile_of_most_of_the_window_or_of_a_sleeping_side_is_taken(
    source: str, samples: int, cpu_s: float
) -> None:
    require_samples(*sampled(source, samples, cpu_s))


@pytest.mark.parametrize(
    ("source", "samples", "remedy"),
    [("timer", 300, "fewer threads"), ("hardware", 80, "set profile.event to cpu_clock")],
)
def test_a_profile_of_a_part_of_the_window_is_refused(
    source: str, samples: int, remedy: str
) -> None:
    with pytest.raises(NoMeasurement, match="should have given 1000") as refused:
        require_samples(*sampled(source, samples, 1.0))
    assert remedy in refused.value.verdict.remedy
