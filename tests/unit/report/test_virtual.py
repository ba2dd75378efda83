"""The chapter on virtual machines: its sentences a branch at a time, and its tables."""

from typing import Any

from golden.sentences import check_branches, sentences

from copycost.report.host_table import guest_rows, measured_on
from copycost.report.virtual_tables import costs, overheads, rates, round_trips, work
from copycost.wording.numbers import NBSP

Facts = dict[str, Any]


def ratio(value: float, **more: object) -> Facts:
    found = {"value": value, "low": value * 0.9, "high": value * 1.1, "n": 3, "sign": -1}
    return found | {"once": False, "n_cells": 8, "n_above": 0, "n_below": 8,
                    "contradict": False} | more  # fmt: skip


def pair(**changed: object) -> Facts:
    found: Facts = {
        "slug": "vm_pair",
        "without": "veth",
        "emulated": False,
        "apart": False,
        "throughput": ratio(0.21),
        "inside": ratio(2.4),
        "outside": ratio(4.1),
    }
    return found | changed


def opposed(apart: bool = False, **changed: object) -> Facts:
    """Return a pair in which the cells contradict each other in everything."""
    found = ratio(0.9, contradict=True) | changed
    return pair(apart=apart, throughput=found, inside=found, outside=found)


def part(name: str, value: float) -> Facts:
    return {"name": name, "value": value, "low": value - 0.01, "high": value + 0.01, "n": 3}


def guests(**changed: object) -> Facts:
    found: Facts = {
        "slug": "vm_pair",
        "emulated": False,
        "testbed": "vm_pair",
        "parts": [part("vcpu", 0.61), part("io", 0.39)],
        "within": {"value": 0.82, "low": 0.8, "high": 0.84, "n": 3},
        "stalled": None,
        "copied": [],
    }
    return found | changed


def virtual(**changed: object) -> Facts:
    found: Facts = {"emulated": False, "accelerators": ["kvm"], "alone": [], "published": []}
    return found | changed


def made(release: str, cpu: str = "host") -> Facts:
    return {"kernel": {"release": release}, "cpu": cpu}


def outside(condition: str, accelerator: str, n: int = 3) -> Facts:
    low = {"copies": 0.08, "exits": 0.0, "events": 0.05, "emulator": 0.6, "rest": 0.15}
    shares = {kind: {"low": of, "high": of + (n > 1) * 0.03} for kind, of in low.items()}
    return {"condition": condition, "accelerator": accelerator, "n": n, "shares": shares}


def profiled(condition: str, *parties: str) -> Facts:
    costs = {"copies": 31.0, "exits": 0.0, "events": 12.0, "emulator": 400.0, "rest": None}
    return {
        "implementation": "two_copy", "msg_bytes": 65536, "n_threads": 1, "condition": condition,
        "accelerator": "kvm", "emulated": False, "copied_share": None,
        "work": {"parties": dict.fromkeys(parties, costs)},
    }  # fmt: skip


def asked(copied_share: float, tap: Facts | None) -> Facts:
    """Return a profiled cell that asked for no copy."""
    share = {"low": copied_share, "high": copied_share}
    cell = {"implementation": "zero_copy", "copied_share": share, "tap_copy": tap}
    return profiled("vm_pair", "sender") | cell


def test_sentences() -> None:
    tap_copy = {
        "function": "skb_copy_datagram_from_iter", "party": "sender_qemu",
        "ns_per_kib": {"median": 31.0}, "share": {"median": 0.081},
    }  # fmt: skip
    way = {"implementation": "zero_copy", "copied_share": 0.0}
    plain = profiled("vm_pair", "sender")
    elsewhere = asked(0.0, tap_copy) | {"condition": "vm_host"}
    host = {"kernel": {"release": "6.18"}}
    texts = {
        branch: sentences("virtual_words", name, *arguments)
        for branch, (name, *arguments) in {
            "emulated": ("how_run", virtual(emulated=True)),
            "on the processor": ("how_run", virtual()),
            "not known": ("how_run", virtual(accelerators=[])),
            "another kernel": ("other_machine", virtual(made=made("6.1.0")), host),
            "the same kernel": ("other_machine", virtual(made=made("6.18")), host),
            "another kernel, emulated": (
                "other_machine", virtual(made=made("6.1.0", "max,-erms"), emulated=True), host,
            ),
            "the same kernel, emulated": (
                "other_machine", virtual(made=made("6.18", "max,-erms"), emulated=True), host,
            ),
            "not known what is in a guest": ("other_machine", virtual(made=None), host),
            "compared": ("compared", pair(), 0.95),
            "compared, emulated": ("compared", pair(emulated=True), 0.95),
            "cells contradict": ("compared", opposed(n_above=3, n_below=5), 0.95),
            "halves contradict, one side in no guest": (
                "compared",
                opposed(apart=True, halves=[{"axis": "n_threads", "sign": -1}]),
                0.95,
            ),
            "outside not counted": ("compared", pair(outside=None), 0.95),
            "costs not counted": ("compared", pair(inside=None, outside=None), 0.95),
            "one side in no guest": ("compared", pair(slug="vm_host", apart=True), 0.95),
            "other packets": ("other_packets", pair(mtu={"here": 1500, "there": 65535})),
            "packets as large": ("other_packets", pair(mtu=None)),
            "alone": ("alone", virtual(alone=["vm_host"])),
            "parts": ("parts", guests()),
            "parts, emulated": ("parts", guests(emulated=True)),
            "every part": (
                "parts",
                guests(
                    parts=[
                        part(name, share)
                        for name, share in (
                            ("vcpu", 0.6), ("io", 0.2), ("vhost", 0.1), ("worker", 0.06),
                            ("apart", 0.04),
                        )
                    ]
                ),
            ),
            "parts not counted": ("parts", guests(parts=None)),
            "guests not counted": ("parts", guests(within=None)),
            "guests that wait": ("parts", guests(stalled=part("stalled", 0.18))),
            "zero-copy between guests": ("zero_copy", guests(copied=[way]), []),
            "zero-copy within one": (
                "zero_copy", guests(testbed="vm_loopback", copied=[way]), [elsewhere],
            ),
            "all of it copied": (
                "zero_copy", guests(copied=[way | {"copied_share": 1.0}]), [],
            ),
            "zero-copy between guests, profiled": (
                "zero_copy", guests(copied=[way]), [asked(0.0, tap_copy), elsewhere, plain],
            ),
            "all of it copied, profiled": (
                "zero_copy", guests(copied=[way | {"copied_share": 1.0}]), [asked(1.0, tap_copy)],
            ),
            "profiled without a copy by the host": (
                "zero_copy", guests(copied=[way]), [asked(0.0, None)],
            ),
            "no zero-copy": ("zero_copy", guests(), [plain]),
            "profiled": ("work", [outside("vm_pair", "kvm"), outside("vm_loopback", "kvm")]),
            "profiled, emulated": ("work", [outside("vm_pair", "tcg", n=1)]),
            "not profiled": ("work", []),
            "published": ("published", virtual(published=[1])),
            "round trips": ("round_trips",),
        }.items()
    }  # fmt: skip
    check_branches("virtual", texts)


def test_what_each_party_did_is_told_in_a_row() -> None:
    cells = [profiled("vm_pair", "sender", "sender_qemu"), profiled("vm_loopback", "qemu")]
    columns, rows = work(cells)
    assert [column.title for column in columns][2:] == [
        "copies", "exits and entries", "events and wake-ups", "emulator", "rest",
    ]  # fmt: skip
    assert [row[1] for row in rows] == ["sender", "sender's QEMU", "guest's QEMU"]
    assert {tuple(row[2:]) for row in rows} == {("31.0", "0", "12.0", "400", "---")}
    assert ["`two_copy`" in row[0] for row in rows] == [True, False, True]


def median(value: float) -> Facts:
    return {"median": value, "low": value, "high": value, "n": 3, "vague": False}


def test_cells_stand_beside_each_other() -> None:
    cell = {
        "implementation": "two_copy",
        "msg_bytes": 65536,
        "n_threads": 1,
        "throughput": median(2e9),
        "without_throughput": median(2e10),
        "cost": median(0.3),
        "inside": median(1.1),
        "outside": None,
        "rate": ratio(0.1),
        "price": None,
    }
    other = cell | {"implementation": "one_copy", "rate": ratio(0.1, low=0.01, high=1.0)}
    columns, rows = rates(pair(cells=[cell, other]))
    assert [column.title for column in columns] == [
        "Message", "Implementation", "Gbit/s, `veth`", "Gbit/s, `vm_pair`", "ratio", "interval",
    ]  # fmt: skip
    assert [[field.replace(NBSP, " ") for field in row] for row in rows] == [
        ["64 KiB", "`two_copy`", "20.0", "2.00", "0.10", "0.090 to 0.11"],
        ["", "`one_copy`", "20.0", "2.00", "0.10", "too wide"],
    ]
    columns, rows = costs(pair(cells=[cell]))
    assert [column.title for column in columns][2:5] == [
        "ns/B, `veth`", "ns/B, inside", "ns/B, outside",
    ]  # fmt: skip
    assert rows[0][2:] == ["0.300", "1.10", "---", "---", "---"]
    threads, rows = rates(pair(cells=[cell, cell | {"n_threads": 2}]))
    assert threads[1].title == "Threads"
    assert [row[1] for row in rows] == ["1", "2"]


def test_round_trips_stand_beside_each_other() -> None:
    cell = {"implementation": "two_copy", "msg_bytes": 64, "n_threads": 1, "p50": ratio(5.0),
            "p99": None, "inside": ratio(2.0, low=0.1, high=9.0),
            "outside": ratio(6.0)}  # fmt: skip
    columns, rows = round_trips(pair(cells=[cell]))
    assert [column.title for column in columns][2:] == [
        "median", "99th percentile", "CPU inside", "CPU outside",
    ]  # fmt: skip
    assert [field.replace(NBSP, " ") for field in rows[0][2:]] == [
        "5.00 (4.50 to 5.50)", "---", "2.00 (too wide)", "6.00 (5.40 to 6.60)",
    ]  # fmt: skip
    columns, _ = round_trips(pair(cells=[cell | {"outside": None}]))
    assert columns[-1].title == "CPU inside"


def test_what_guests_are_made_of_is_told() -> None:
    spec = {"accelerator": "tcg", "vcpus": 1, "memory_bytes": 1 << 30, "network_device": "virtio",
            "vhost": False, "offloads": True}  # fmt: skip
    made = {
        "kernel": {
            "release": "6.1.0",
            "source": "the host's own",
            "arguments": ["quiet", "panic=-1"],
        },
        "cpu": "max,-erms",
        "qemu": "QEMU emulator version 7.2.22",
        "kvm": {"usable": False, "reason": "the guest was not up within 10 s", "limit_s": 10.0},
        "spec": spec,
    }
    rows = dict(guest_rows(made))
    assert rows["Instructions"] == (
        "emulated (TCG); KVM was tried: the guest was not up within 10 s"
    )
    assert (rows["Memory"], rows["vhost"]) == ("1.0 GiB", "no")
    assert rows["Kernel's arguments"] == "`quiet panic=-1`"
    assert rows["Model of processor"] == "`max,-erms`"
    on_processor = dict(guest_rows(made | {"spec": spec | {"accelerator": "kvm"}, "kvm": None}))
    assert on_processor["Instructions"] == "the processor (KVM)"


def test_the_line_of_the_machine_says_that_guests_are_emulated() -> None:
    host = {
        "cpu": {"model": "A", "cpus_online": 2, "virtualisation": None},
        "kernel": {"release": "6.18"},
    }
    told = virtual(conditions=[1], made={"kernel": {"release": "6.1"}}, emulated=True)
    line = measured_on(host, {"started_at": None}, told)
    assert line == "A, 2 CPUs, Linux 6.18, guests with Linux 6.1 (emulated)"
    assert measured_on(host, {"started_at": None}, virtual(conditions=[])).endswith("6.18")
    assert measured_on(host, {"started_at": None}, told | {"made": None, "emulated": False}) == (
        "A, 2 CPUs, Linux 6.18, guests"
    )


def test_overheads_stand_above_the_published_ones() -> None:
    used = {"low": 12.0, "high": 40.0}
    use = {"sides": ["sender"], "process": used, "guest": used, "hypervisor": used,
           "overhead": used}  # fmt: skip
    published = {
        "scenario": "vm-loopback",
        "parallel_streams": 1,
        "client_cpu_min_percent": 0,
        "client_cpu_max_percent": 91,
        "server_cpu_min_percent": 0,
        "server_cpu_max_percent": 74,
        "qemu_cpu_min_percent": 0,
        "qemu_cpu_max_percent": 179,
    }
    receiver = published | {"client_cpu_min_percent": None, "client_cpu_max_percent": None}
    _, rows = overheads({"conditions": [guests(uses=[use])], "published": [published, receiver]})
    text = [[cell.replace(NBSP, " ") for cell in row] for row in rows]
    assert text[0][0] == "`vm_pair`, sender"
    assert text[1][1] == "sender 0 to 91.0 %, receiver 0 to 74.0 %"
    assert text[2][1] == "receiver 0 to 74.0 %"
