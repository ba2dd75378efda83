"""Which cells are profiled, which profiles are refused, and which changes are sure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from unit.studies.profile.made import config

from copycost.config.strategy_capabilities import IPERF3
from copycost.errors import AttemptFailed
from copycost.observers.perf.stacks import UNKNOWN, Stacks
from copycost.studies.profile.differences import changes
from copycost.studies.profile.grid import cell_keys, profile_cells
from copycost.studies.profile.repetition import require_samples, require_stacks
from copycost.studies.profile.runs import Run


def test_cells_that_cannot_exist_are_left_out() -> None:
    grid = config(
        implementations=("splice", "two_copy", "iperf3"),
        testbeds=("veth", "veth_udp", "sink"),
        msg_bytes=(1024, 65536, 1 << 21),
        working_sets=("hot", "cold"),
        repetitions=1,
    )
    cells = profile_cells(grid)
    assert {c.msg_bytes for c in cells if c.testbed == "veth_udp"} == {1024}
    iperf3 = {(c.testbed, c.msg_bytes, c.working_set) for c in cells if c.implementation == IPERF3}
    # no datagram holds 64 KiB
    assert iperf3 == {("veth", 1024, "hot"), ("veth", 65536, "hot"), ("veth_udp", 1024, "hot")}


def test_what_drives_other_studies_of_the_run_is_profiled_as_it_drives_them() -> None:
    driven = config(
        cpu_budget={
            "testbeds": ["loopback"], "implementations": ["iperf3", "one_copy"],
            "n_threads": [1, 2], "msg_bytes": 131072,
        },
        datagrams={
            "testbeds": ["veth_udp"], "implementations": ["iperf3"],
            "n_threads": [1], "msg_bytes": [64, 1000, 65507],
        },
    )  # fmt: skip
    assert cell_keys(driven) == cell_keys(config())
    more = set(cell_keys(driven, ["cpu_budget", "datagrams"])) - set(cell_keys(driven))
    assert {key[1:5] for key in more} == {
        *(("loopback", name, 131072, n) for name in ("iperf3", "one_copy") for n in (1, 2)),
        *(("veth_udp", "iperf3", size, 1) for size in (64, 65507)),
    }
    one = replace(driven, profile=replace(driven.profile, explains=("datagrams",)))
    fewer = set(cell_keys(one, ["cpu_budget", "datagrams"])) - set(cell_keys(driven))
    assert fewer == {key for key in more if key.testbed == "veth_udp"}


def changes_to(*rows: Sequence[float]) -> list[dict[str, Any]]:
    named = {n: np.array([(0.0, after) for after in row]) for n, row in enumerate(rows)}
    return [one["change"] for one in changes(named, 0.95).values()]


def test_differences_need_more_than_luck_to_be_sure() -> None:
    steady, restless, once = changes_to([10.0, 10.1, 9.9], [10.0, -9.0, 3.0], [5.0])
    assert steady["direction"] == "grew"
    assert restless["direction"] == "no difference seen"
    assert (once["direction"], once["low"]) == ("observed once", None)


def test_a_profile_whose_call_stacks_perf_discarded_is_refused() -> None:
    known = Stacks(Counter({"main;send;tcp_sendmsg_[k]": 90, UNKNOWN: 10}), samples=100)
    require_stacks({"sender": known, "receiver": Stacks()})
    discarded = Stacks(Counter({"main;send;tcp_sendmsg_[k]": 2, UNKNOWN: 98}), samples=100)
    with pytest.raises(
        AttemptFailed, match=r"call stacks of 98% of the sender's samples"
    ) as refused:
        require_stacks({"sender": discarded, "receiver": known})
    assert "-fno-omit-frame-pointer" in refused.value.remedy


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
    with pytest.raises(AttemptFailed, match="should have given 1000") as refused:
        require_samples(sampling, run)
    assert remedy in refused.value.remedy
