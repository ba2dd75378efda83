"""Curves with a known truth: their table, lines, bottlenecks and scaling."""

from dataclasses import replace
from pathlib import Path

import pytest
from budgets import LIMITS, PAIR, Study, Truth, facts_of
from skipped_records import save

from copycost.config.cells import Cell
from copycost.studies.cpu_budget import chapter
from copycost.studies.cpu_budget.records import CPU_BUDGET, row_of
from copycost.studies.record_table import table_of

ONE, TWO = Truth(), Truth(n_threads=2, gbps_per_percent=0.19)


def profile(one: float, many: float) -> dict[str, object]:
    """Return facts of profiles with one and two streams, with such shares of copying."""

    def around(share: float) -> dict[str, float]:
        return {"median": share, "low": share - 0.02, "high": share + 0.02}

    def side(copying: float, acknowledging: float) -> dict[str, object]:
        shares = {"Copying": copying, "Waking up and scheduling": 0.1}
        rows = [{"title": title, "share": around(share)} for title, share in shares.items()]
        return {"categories": rows, "acknowledging": around(acknowledging)}

    cells = [
        {
            "implementation": "iperf3", "condition": "loopback", "msg_bytes": 131072,
            "n_threads": n_threads,
            "sides": {"sender": side(share, 0.05), "receiver": side(share, 1.0 - 1.7 * share)},
        }
        for n_threads, share in ((1, one), (2, many))
    ]  # fmt: skip
    return {"cells": cells}


BOTTLENECKS: dict[str, Study] = {
    "sender": Study(),
    "receiver": Study((Truth(receiver_per_sender=1.45, ceiling=19.0),)),
    "both": Study((Truth(receiver_per_sender=0.98),)),
    "host": Study((Truth(n_threads=2, ceiling=30.0, waiting=20.0),), host_cpus=2),
    "waiting": Study((Truth(ceiling=12.0, waiting=30.0),)),
    "limit": Study(limits=(10, 20, 30, 40)),
    "unknown": Study((Truth(ceiling=12.0, receiver_per_sender=0.5),)),
    "vcpu": Study((replace(PAIR, in_io=0.1),)),
    "io": Study((replace(PAIR, in_io=0.9),)),
    "vhost": Study(
        (replace(PAIR, accelerator="kvm", outside_per_inside=3.2, in_io=0.1, in_vhost=0.7),)
    ),
    "host over the wire": Study((Truth("wire-lab2", n_threads=2, ceiling=51.7),), host_cpus=2),
    "host at its end": Study(
        (Truth("wire-lab2", n_threads=2, ceiling=51.7, receiver_per_sender=1.02),), peer_cpus=2
    ),
    "vcpu_waiting": Study((replace(PAIR, vcpu_waiting=20.0),)),
}
SCALED: dict[str, tuple[Study, int | None]] = {
    "explained": (Study((ONE, TWO), profile=profile(0.5, 0.4)), 3),
    "same_shares": (Study((ONE, TWO), profile=profile(0.5, 0.495)), 0),
    "not_profiled": (Study((ONE, TWO)), None),
    "profile_of_another": (
        Study(
            (replace(ONE, implementation="two_copy"), replace(TWO, implementation="two_copy")),
            profile=profile(0.5, 0.4),
        ),
        None,
    ),
}


@pytest.mark.parametrize("name", BOTTLENECKS)
def test_the_bottleneck_is_what_was_full_or_waited_for(name: str) -> None:
    facts = facts_of(BOTTLENECKS[name])
    assert facts["curves"][-1]["bottleneck"]["kind"] == name.split()[0]
    assert chapter.curves(facts)[1][-1][-1]


@pytest.mark.parametrize("name", SCALED)
def test_what_moves_with_more_streams_is_told_from_profiles_of_both(name: str) -> None:
    study, n_moves = SCALED[name]
    (scaling,) = facts_of(study)["scaling"]
    assert (None if scaling["shares"] is None else len(scaling["shares"])) == n_moves
    assert scaling["maximum"]["low"] > 1.0


@pytest.mark.parametrize(
    ("truth", "n_limits"),
    [
        (Truth(), {6}),
        # a bend ends the range
        (Truth(bend=0.0006, noise=0.002), {3, 4, 5}),
        # saturated points are left out, and two points are no line
        (Truth(ceiling=14.0), {3}),
        (Truth(ceiling=8.0), {0}),
    ],
)
def test_the_range_is_as_long_as_points_lie_on_a_line(truth: Truth, n_limits: set[int]) -> None:
    line = facts_of(Study((truth,)))["curves"][0]["lines"]["sender"]
    limits = line["limits"] if line else []
    assert len(limits) in n_limits
    assert limits == list(LIMITS[: len(limits)])
    if not truth.bend and line:
        assert line["slope"]["low"] < 0.28e9 < line["slope"]["high"]


def test_clocks_that_differ_on_one_curve_are_not_hidden_by_the_others() -> None:
    alike = Truth(perf=0.999, receiver_perf=0.999)
    apart = Truth(n_threads=2, perf=1.15, receiver_perf=0.75)
    clocks = facts_of(Study((alike, replace(alike, testbed="veth"), apart)))["clocks"]
    for side, ratio in (("sender", 1.15), ("receiver", 0.75)):
        assert clocks[side]["median_ratio"] == pytest.approx(ratio)
        assert (clocks[side]["testbed"], clocks[side]["n_threads"]) == ("loopback", 2)


def test_every_record_has_a_row(tmp_path: Path) -> None:
    cell = Cell(
        "cpu_budget", "loopback", "iperf3", 131072, 2, rep=1, limiter="cgroup", limit_percent=20
    )
    paths = [save(tmp_path, one) for one in (cell, replace(cell, rep=2))]
    table = table_of(paths, row_of, CPU_BUDGET)
    assert table["rep"].tolist() == [1, 2]
    assert set(table["status"]) == {"skipped"}
    assert set(table["offered_percent"]) == {40.0}
