"""Runs of the study of a CPU budget, one per branch of its chapter; each has a golden text."""

from dataclasses import replace

from budgets import Study, Truth

_ONE, _TWO = Truth(), Truth(n_threads=2, gbps_per_percent=0.19)


def _profile(one: float, many: float) -> dict[str, object]:
    def around(share: float) -> dict[str, float]:
        return {"median": share, "low": share - 0.02, "high": share + 0.02}

    def cell(n_threads: int, share: float) -> dict[str, object]:
        shares = {"Copying": share, "Waking up and scheduling": 0.1}
        rows = [{"title": title, "own": {"share": around(it)}} for title, it in shares.items()]
        acknowledging = {"sender": around(0.05), "receiver": around(1.0 - 1.7 * share)}
        return {
            "implementation": "iperf3", "condition": "loopback", "msg_bytes": 131072,
            "n_threads": n_threads,
            "sides": {
                side: {"categories": rows, "acknowledging": it}
                for side, it in acknowledging.items()
            },
        }  # fmt: skip

    return {"cells": [cell(1, one), cell(2, many)]}


SCENARIOS: dict[str, Study] = {
    "linear": Study((_ONE,)),
    "two_streams_cost_more": Study((_ONE, _TWO)),
    "two_streams_explained": Study((_ONE, _TWO), profile=_profile(0.5, 0.4)),
    "two_streams_same_shares": Study((_ONE, _TWO), profile=_profile(0.5, 0.495)),
    "two_streams_no_difference": Study((_ONE, Truth(n_threads=2, noise=0.05))),
    "receiver_full": Study((Truth(receiver_per_sender=1.45, ceiling=19.0),)),
    "both_full": Study((Truth(receiver_per_sender=0.98),)),
    "host_full": Study((_ONE, Truth(n_threads=2, ceiling=30.0, waiting=20.0)), host_cpus=2),
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
        (_ONE, Truth(implementation="two_copy", limiter="cpulimit", gbps_per_percent=0.3))
    ),
    "other_programs_ran": Study((Truth(flags="foreign_load"),)),
    "no_perf": Study((Truth(perf=None),)),
    "veth_alone": Study((Truth(testbed="veth"),)),
    "veth_and_loopback": Study((Truth(testbed="veth", gbps_per_percent=0.2), _ONE)),
    "saturated_throughout": Study((Truth(ceiling=1.0, receiver_per_sender=0.5),)),
    "saturated_once": Study((Truth(first_ceiling=12.0),)),
    "clocks_agree": Study((Truth(receiver_perf=0.995),)),
    "iperf3_and_kernel_differ": Study((Truth(kernel=1.08),)),
    "shares_of_another_driver": Study(
        (replace(_ONE, implementation="two_copy"), replace(_TWO, implementation="two_copy")),
        profile=_profile(0.5, 0.4),
    ),
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
