"""Runs of the study of a CPU budget, one per branch of its chapter; each has a golden text."""

from budgets import Study, Truth

_ONE, _TWO = Truth(), Truth(n_streams=2, gbps_per_percent=0.19)


def _profile(one: float, many: float) -> dict[str, object]:
    def cell(n_threads: int, share: float) -> dict[str, object]:
        sides = {
            side: {
                "categories": [
                    {"title": "Copying", "own": {"share": {"median": share}}},
                    {"title": "Waking up and scheduling", "own": {"share": {"median": 0.1}}},
                ]
            }
            for side in ("sender", "receiver")
        }
        return {
            "implementation": "iperf3", "testbed": "loopback", "n_threads": n_threads,
            "sides": sides,
        }  # fmt: skip

    return {"cells": [cell(1, one), cell(2, many)]}


SCENARIOS: dict[str, Study] = {
    "linear": Study((_ONE,)),
    "two_streams_cost_more": Study((_ONE, _TWO)),
    "two_streams_explained": Study((_ONE, _TWO), profile=_profile(0.5, 0.4)),
    "two_streams_same_shares": Study((_ONE, _TWO), profile=_profile(0.5, 0.495)),
    "two_streams_no_difference": Study((_ONE, Truth(n_streams=2, noise=0.05))),
    "receiver_full": Study((Truth(receiver_per_sender=1.45, ceiling=19.0),)),
    "both_full": Study((Truth(receiver_per_sender=0.98),)),
    "host_full": Study((_ONE, Truth(n_streams=2, ceiling=30.0, waiting=20.0)), host_cpus=2),
    "other_programs_had_the_cpus": Study(
        (Truth(ceiling=12.0, waiting=30.0, flags="foreign_load"),)
    ),
    "limit_is_all": Study((Truth(),), limits=(10, 20, 30, 40)),
    "held_back_by_nothing_known": Study((Truth(ceiling=12.0, receiver_per_sender=0.5),)),
    "not_linear": Study((Truth(bend=0.01, noise=0.002),)),
    "linear_up_to": Study((Truth(bend=0.0006, noise=0.002, receiver_per_sender=0.5),)),
    "limiter_misses": Study((Truth(limiter_off=8.0),), limits=(10, 25, 40, 60)),
    "one_repetition": Study((_ONE,), repetitions=1),
    "two_drivers_and_limiters": Study(
        (_ONE, Truth(driver="two_copy", limiter="cpulimit", gbps_per_percent=0.3))
    ),
    "other_programs_ran": Study((Truth(flags="foreign_load"),)),
    "no_perf": Study((Truth(perf=None),)),
    "veth_alone": Study((Truth(testbed="veth"),)),
    "no_right_on_one_testbed": Study(
        (_ONE,),
        lost=[
            (
                "veth",
                "skipped",
                "this host allows no network namespace (Operation not permitted)",
                "run as root",
            )
        ],
    ),
    "some_failed": Study(
        (_ONE,),
        lost=[
            (
                "loopback",
                "failed",
                "the iperf3 client ended during the window (by SIGSEGV), saying: nothing",
                "delete the record and run again to repeat it",
            )
        ],
    ),
    "iperf3_missing": Study(
        (), lost=[("veth", "skipped", "iperf3 was not found", "install the package iperf3")]
    ),
    "no_control_groups": Study(
        (),
        lost=[
            (
                "loopback",
                "skipped",
                "no control group for CPU may be made here (none is mounted)",
                "run as root, or set cpu_budget.limiters to [cpulimit]",
            )
        ],
    ),
}
