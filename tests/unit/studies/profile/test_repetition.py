"""What is no profile is refused."""

from collections import Counter

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


@pytest.mark.parametrize(
    ("source", "samples", "cpu_s", "remedy"),
    [
        ("timer", 520, 1.0, None),
        ("timer", 300, 1.0, "fewer threads"),
        ("hardware", 120, 1.0, None),
        ("hardware", 80, 1.0, "set profile.event to cpu_clock"),
        # the side slept through the window
        ("timer", 0, 0.001, None),
    ],
)
def test_a_profile_of_a_part_of_the_window_is_refused(
    source: str, samples: int, cpu_s: float, remedy: str | None
) -> None:
    sampling = {
        "event": "cpu-clock" if source == "timer" else "cycles",
        "source": source,
        "frequency_hz": 1000,
        "sides": {"sender": {"samples": samples, "weight": samples}},
    }
    run = Run(1.0, 1, {"sender": cpu_s * 1e9}, None, None)
    if remedy is None:
        require_samples(sampling, run)
        return
    with pytest.raises(NoMeasurement, match="should have given 1000") as refused:
        require_samples(sampling, run)
    assert remedy in refused.value.verdict.remedy
