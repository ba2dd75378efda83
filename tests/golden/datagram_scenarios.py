"""Runs of the study of datagrams, one per branch of its chapter; each has a golden text."""

from datagram_tables import Study, Truth


def _profile() -> dict[str, object]:
    def cell(size: int) -> dict[str, object]:
        rows = [
            {"title": "Copying", "own": {"share": {"median": size / 100_000}}},
            {"title": "Protocol", "own": {"share": {"median": 0.3}}},
        ]
        return {
            "implementation": "iperf3_udp", "testbed": "veth_udp", "condition": "veth_udp",
            "n_threads": 1, "msg_bytes": size, "sides": {"sender": {"categories": rows}},
        }  # fmt: skip

    return {"cells": [cell(64), cell(1472), cell(65507)]}


SCENARIOS: dict[str, Study] = {
    "losses_in_the_buffer": Study((Truth(), Truth(n_threads=2, loss=0.4))),
    "nothing_lost": Study((Truth(loss=0.0),)),
    "two_causes": Study((Truth(in_socket_memory=0.25),)),
    "account_incomplete": Study((Truth(unaccounted=5, drained=False),)),
    "account_incomplete_in_part": Study((Truth(), Truth(n_threads=2, unaccounted=5))),
    "no_cause_counted": Study((Truth(causeless=True),)),
    "not_counted": Study((Truth(counted=False),)),
    "iperf3_counts_too_little": Study((Truth(driver_misses=0.03),)),
    "iperf3_counts_too_much": Study((Truth(driver_misses=-0.03),)),
    "iperf3_counts_both_ways": Study(
        (Truth(driver_misses=-0.03), Truth(driver_misses=0.02, n_threads=2))
    ),
    "iperf3_counts_negative": Study((Truth(loss=0.0, negative=True, out_of_order=7),)),
    "iperf3_prints_nan": Study((Truth(driver_knows=False, flags="iperf3_nan"),)),
    "per_datagram_only": Study((Truth(ns_per_byte=0.0, noise=0.05),)),
    "per_byte_only": Study(
        (Truth(fixed_ns=0.0, receiver_fixed_ns=0.0, ns_per_byte=0.5, noise=0.05),)
    ),
    "not_two_terms": Study((Truth(bump=4.0),)),
    "one_size": Study((Truth(),), sizes=(1472,)),
    "one_repetition": Study((Truth(),), repetitions=1),
    "one_size_once": Study((Truth(),), sizes=(1472,), repetitions=1),
    "restless": Study((Truth(bump=1.3, noise=0.4),)),
    "even_beyond_a_datagram": Study((Truth(ns_per_byte=0.01),)),
    "even_near_the_largest": Study((Truth(ns_per_byte=0.022),)),
    "perf_counted_nothing": Study((Truth(cpu_clock="scheduler"),)),
    "perf_counted_in_part": Study((Truth(), Truth(n_threads=2, cpu_clock="scheduler"))),
    "two_sizes": Study((Truth(),), sizes=(64, 1472)),
    "other_programs_ran": Study((Truth(flags="foreign_load"),)),
    "profiled": Study((Truth(),), profile=_profile()),
    "our_sender_too": Study((Truth(), Truth(implementation="two_copy", driver_knows=False))),
    "loopback": Study((Truth(testbed="loopback"),)),
    "some_failed": Study(
        (Truth(),),
        lost=[
            (
                "failed",
                "the iperf3 server ended during the window (by SIGKILL), saying: nothing",
                "delete the record and run again to repeat it",
            )
        ],
    ),
    "iperf3_too_old": Study(
        (),
        lost=[
            (
                "skipped",
                "iperf3 3.1.3 is too old: its JSON lacks what is needed here",
                "install iperf3 3.5 or newer",
            )
        ],
    ),
}
