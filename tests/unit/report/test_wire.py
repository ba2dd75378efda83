"""The chapter on the wire: its sentences a branch at a time, and its tables."""

from typing import Any

from golden.sentences import check_branches, sentences
from wires import device, other_machine

from copycost.report.wire_tables import costs, ends, heading, rates
from copycost.report.wire_tables import trips as trip_costs
from copycost.wording.numbers import NBSP

Facts = dict[str, Any]
CONFIDENCE = 0.95


def ratio(value: float, **more: object) -> Facts:
    found = {"value": value, "low": value * 0.9, "high": value * 1.1, "n": 3, "sign": -1}
    return found | {"once": False, "n_cells": 8, "n_above": 0, "n_below": 8,
                    "contradict": False} | more  # fmt: skip


def part(name: str, value: float) -> Facts:
    return {"name": name, "value": value, "low": value - 0.01, "high": value + 0.01, "n": 3}


def link(**changed: object) -> Facts:
    found: Facts = {
        "speed_bits_per_s": 10e9, "mtu_bytes": 1500, "capacity_bits_per_s": 9.415e9,
        "believed": True, "n_points": 8, "n_full": 0, "n_part": 0, "sizes": [], "highest": 0.412,
    }  # fmt: skip
    return found | changed


def side(counted: bool = True, **drops: int) -> Facts:
    return {
        "counted": counted,
        "drops": [{"cause": cause, "packets": packets} for cause, packets in drops.items()],
    }


def condition(**changed: object) -> Facts:
    share = {"value": 0.21, "low": 0.2, "high": 0.22, "n": 3}
    found: Facts = {
        "slug": "wire",
        "testbed": "wire",
        "peer": "",
        "sends": "here",
        "sender_only": False,
        "virtual": False,
        "one_kernel": False,
        "link": link(),
        "limit": None,
        "zero_copy": [{"implementation": "zero_copy", "copied_share": 0.0, "real": True}],
        "untold": [],
        "parts": [
            part("sender_process", 0.3), part("sender_rest", 0.1),
            part("receiver_process", 0.35), part("receiver_rest", 0.25),
        ],
        "softirq": {"sender": share, "receiver": share | {"value": 0.42}},
        "lost": {
            "sent_again": 0.0, "again": None, "datagrams": None,
            "sides": {"sender": side(), "receiver": side()},
        },
        "clock": {"uncertainty_ns": 36_600.0, "share": 3.7e-5},
    }  # fmt: skip
    return found | changed


def compared(**changed: object) -> Facts:
    found = {"implementation": "zero_copy", "baseline": "two_copy", "machines": ratio(0.71)}
    return found | {"processes": ratio(0.6)} | changed


def lost(
    sent_again: float | None,
    sender: Facts,
    receiver: Facts,
    datagrams: float | None = None,
    again: list[Facts] | None = None,
) -> Facts:
    sides = {"sender": sender, "receiver": receiver}
    found = {"sent_again": sent_again, "again": again, "datagrams": datagrams, "sides": sides}
    return condition(lost=found)


def limit(**changed: object) -> Facts:
    found: Facts = {
        "low": 82.4e6, "high": 95.5e6, "n_points": 4, "n_full": 0, "n_part": 0, "sizes": [],
        "highest": 0.61,
    }  # fmt: skip
    return condition(limit=found | changed)


def trips(**changed: object) -> Facts:
    row = {
        "implementation": "two_copy", "msg_bytes": 64, "n_threads": 1,
        "p50_ns": {"median": 8_020.0}, "p99_ns": {"median": 14_900.0}, "machines": None,
    }  # fmt: skip
    return {"rows": [row | changed]}


TRIP = {
    name: {"median": value * 1e3, "low": value * 9e2, "high": value * 1.1e3}
    for name, value in {
        "sender": 5.1, "sender_machine": 7.2, "sender_softirq": 1.3, "receiver": 4.4,
        "receiver_machine": 6.5, "receiver_softirq": 1.6, "machines": 13.7,
    }.items()
}  # fmt: skip


def test_sentences() -> None:
    copied = {"implementation": "zero_copy", "copied_share": 1.0, "real": False}
    opposed = ratio(1.0, n_above=3, n_below=5, contradict=True)
    halves = ratio(1.0, contradict=True, halves=[{"axis": "msg_bytes", "sign": -1}])
    again = [
        {"implementation": "one_copy", "value": 0.0},
        {"implementation": "zero_copy", "value": 98.7},
    ]
    every_cause = side(
        device_rx_errors=1, device_rx_dropped=2, device_rx_fifo_errors=3, device_tx_errors=4,
        device_tx_dropped=5, device_tx_fifo_errors=6, device_tx_carrier_errors=7, softnet_dropped=8,
    )  # fmt: skip
    texts = {
        branch: sentences("wire_words", name, *arguments)
        for branch, (name, *arguments) in {
            "from here": ("direction", condition()),
            "from there": ("direction", condition(sends="there")),
            "nobody receives": ("direction", condition(sender_only=True)),
            "nobody receives, parts": ("parts", condition(sender_only=True, parts=None)),
            "two kernels": ("one_kernel", condition()),
            "one kernel": ("one_kernel", condition(one_kernel=True)),
            "link not known": ("link", condition(link=None), 0.95),
            "link not believed": (
                "link", condition(link=link(believed=False, exceeded=1.3)), 0.95,
            ),
            "link limits some": (
                "link", condition(link=link(n_full=5, n_part=2, sizes=[65536, 1 << 20])), 0.95,
            ),
            "link limits some of every size": ("link", condition(link=link(n_full=3)), 0.95),
            "link limits only some ways": ("link", condition(link=link(n_part=3)), 0.95),
            "link limits all": ("link", condition(link=link(n_full=8, sizes=[64])), 0.95),
            "link limits none": ("link", condition(), 0.95),
            "zero-copy is real": ("zero_copy", condition()),
            "zero-copy is copied": ("zero_copy", condition(zero_copy=[copied])),
            "virtual": ("zero_copy", condition(zero_copy=[copied], virtual=True)),
            "real by a virtual device": ("zero_copy", condition(virtual=True)),
            "no zero-copy": ("zero_copy", condition(zero_copy=[])),
            "zero-copy without completions": (
                "zero_copy", condition(zero_copy=[], untold=["zero_copy"]),
            ),
            "parts": ("parts", condition()),
            "no softirqs": ("parts", condition(softirq={"sender": None, "receiver": None})),
            "parts not counted": ("parts", condition(parts=None)),
            "others": ("others", {"warnings": {"foreign_load": 5}, "n_measured": 36}),
            "no others": ("others", {"warnings": {"steal": 5}, "n_measured": 36}),
            "compared": ("compared", compared(), CONFIDENCE),
            "cells contradict": (
                "compared", compared(machines=opposed, processes=opposed), CONFIDENCE,
            ),
            "halves contradict": (
                "compared", compared(machines=halves, processes=halves), CONFIDENCE,
            ),
            "machines not counted": ("compared", compared(machines=None), CONFIDENCE),
            "nothing lost": ("lost", condition()),
            "sent again": ("lost", lost(12.3, side(), side())),
            "sent again, by way": ("lost", lost(12.3, side(), side(), again=again)),
            "every cause": ("lost", lost(0.0, every_cause, side(device_rx_dropped=1))),
            "UDP": ("lost", lost(None, side(), side(), 0.0)),
            "UDP, some lost": ("lost", lost(None, side(), side(), 0.127)),
            "UDP, not counted": ("lost", lost(None, side(), side())),
            "no limit": ("limit", condition(), 0.95),
            "limit holds none": ("limit", limit(), 0.95),
            "limit holds all": ("limit", limit(n_full=4, sizes=[512, 1400]), 0.95),
            "limit holds some": (
                "limit", limit(n_full=2, n_part=1, sizes=[1400], low=95.5e6), 0.95,
            ),
            "devices not counted": ("lost", lost(0.0, side(counted=False), side(counted=False))),
            "clock": ("clock", condition()),
            "no clock": ("clock", condition(clock=None)),
            "round trips": ("round_trips", trips()),
            "round trips with what they cost": ("round_trips", trips(machines=TRIP)),
            "round trips without a tail": ("round_trips", trips(p99_ns=None)),
            "no round trips": ("round_trips", trips(p50_ns=None)),
        }.items()
    }  # fmt: skip
    check_branches("wire", texts)


def plain(rows: list[list[str]]) -> list[list[str]]:
    return [[field.replace(NBSP, " ") for field in row] for row in rows]


def test_both_ends_stand_next_to_each_other() -> None:
    host = {"cpu": {"model": "A CPU", "cpus_online": 8, "virtualisation": "kvm",
                    "governor": "performance"}, "kernel": {"release": "6.12"}}  # fmt: skip
    found = other_machine(
        driver=None,
        speed_mbit_per_s=None,
        rx_queues=None,
        tx_queues=None,
        tx_checksum=None,
        kind="veth",
        interrupt_cpus={},
        irqbalance=None,
    )
    peer = {"name": ""} | found | found["wire"]
    columns, rows = ends(host, peer)
    assert [column.title for column in columns] == ["Property", "This machine", "The other machine"]
    shown = {title: fields for title, *fields in plain(rows)}
    assert shown["Frequency governor"] == ["performance", "not told"]
    assert shown["Network device"] == ["`eth0`, driver `mlx5_core`", "`eth0`, virtual (veth)"]
    assert shown["CPUs that their interrupts may go to"] == ["0 and 1", "not told"]
    assert shown["irqbalance"] == ["runs", "not told"]
    assert shown["Speed of its link"] == ["100 Gbit/s", "not told"]
    assert shown["Queues"] == ["8 to receive, 8 to send", "not told"]
    assert shown["Checksums by the device, likewise"] == ["on", "not told"]
    assert shown["Clock, compared with this machine's"] == ["---", "known to 12.0 µs"]
    guest = {"name": ""} | (found := other_machine(driver="virtio_net")) | found["wire"]
    (shown,) = (row for row in plain(ends(host, guest)[1]) if row[0] == "Network device")
    assert shown[2] == "`eth0`, virtual, driver `virtio_net`"
    assert device()["mtu_bytes"] == 1500
    assert ends(host, peer | {"name": "lab2"})[0][2].title == "`lab2`"


def test_headings_say_who_sends() -> None:
    assert heading(condition()) == "From this machine to the other machine"
    assert heading(condition(sends="there", peer="lab2")) == "From `lab2` to this machine"
    sink = condition(testbed="wire_sink-lab2", sender_only=True, peer="lab2")
    assert heading(sink) == "From this machine to `lab2`, UDP, dropped there"


def median(value: float) -> Facts:
    return {"median": value, "low": value * 0.9, "high": value * 1.1, "n": 3, "vague": False}


def test_cells_have_rates_and_costs() -> None:
    cell = {
        "implementation": "two_copy", "msg_bytes": 65536, "n_threads": 1,
        "throughput": median(9.4e9), "link_share": 0.998, "limit_share": 0.951, "sent_again": 0.0,
        "sender": median(0.2), "sender_machine": median(0.3), "receiver": median(0.4),
        "receiver_machine": None, "machines": median(1.0) | {"low": 0.01},
    }  # fmt: skip
    other = cell | {"implementation": "one_copy", "link_share": None, "sent_again": None}
    found = condition(cells=[cell, other])
    columns, rows = rates(found)
    assert [column.title for column in columns][2:] == [
        "Gbit/s", "interval", "of the link", "sent again per GB",
    ]  # fmt: skip
    assert plain(rows) == [
        ["64 KiB", "`two_copy`", "9.40", "8.46 to 10.3", "99.8 %", "0"],
        ["", "`one_copy`", "9.40", "8.46 to 10.3", "---", "---"],
    ]
    assert len(rates(found | {"link": None})[0]) == 5
    columns, rows = rates(found | {"link": None, "limit": {}})
    assert (columns[4].title, plain(rows)[0][4]) == ("of the limit", "95 %")
    columns, rows = costs(condition(cells=[cell, cell | {"n_threads": 2}]))
    assert [column.title for column in columns][:2] == ["Message", "Threads"]
    assert plain(rows)[0][3:] == ["0.200", "0.300", "0.400", "---", "1.00", "too wide"]


def test_round_trips_have_what_each_machine_pays() -> None:
    columns, rows = trip_costs(trips(machines=TRIP))
    assert [column.title for column in columns][2:5] == ["sender", "its machine", "softirq"]
    assert plain(rows)[0][2:] == [
        "5.10", "7.20", "1.30", "4.40", "6.50", "1.60", "13.7", "12.3 to 15.1",
    ]  # fmt: skip
