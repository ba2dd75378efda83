"""Sentences of the chapters on the host, the method and the results, a branch at a time."""

from typing import Any

from golden.sentences import check_branches, environment

LOSS = {"reason": "no right to make network namespaces", "remedy": None}


def words(name: str) -> Any:  # noqa: ANN401
    """Return the macros of a file, to be called as in a template."""
    return environment().get_template(f"_macros/{name}_words.j2").module


def condition(**changed: Any) -> dict[str, Any]:  # noqa: ANN401
    facts: dict[str, Any] = {
        "slug": "sink",
        "testbed": "sink",
        "sender_only": False,
        "working_set": "hot",
        "labels": {},
        "cost_label": "CPU time",
        "grid": {"n_threads": [1, 2]},
        "quantities": {"ring_per_llc": None},
        "questions": {"q2": {"verdict": "not_counted"}},
        "evidence": {"all_copied": {"value": None}},
        "failed": [],
        "skipped": [],
        "n_failed": 0,
        "n_skipped": 0,
        "mtu_bytes": 1500.0,
        "isolation": "root",
        "guests": 0,
        "kernels": 1,
        "emulated": False,
    }
    return facts | changed


SINKS = [{"testbed": "sink"}, {"testbed": "sink"}, {"testbed": "wire_sink-lab2"}]


def test_method() -> None:
    method = words("method")
    beds = ("veth", "veth_no_offload", "loopback", "veth_udp", "sink", "other")
    texts = {f"testbed {name}": method.testbed({"testbed": name, "path": None}) for name in beds}
    anew = {"testbed": "veth_narrow", "path": "a veth pair with small packets"}
    looks = {"time_s": 600.0, "passes": 4, "fewest_rounds": 5, "wrong": 0.05, "to_settle": 0.9975}
    looks |= {"alike": 0.05}
    texts |= {
        "testbed without words of its own": method.testbed(anew | {"transport": "stream"}),
        "testbed without words of its own, UDP": method.testbed(anew | {"transport": "datagram"}),
        "set up as root": method.setting(condition()),
        "set up by a user": method.setting(condition(isolation="user_namespace")),
        "host itself, MTU varied": method.setting(condition(isolation="host", mtu_bytes=None)),
        "two hosts": method.setting(condition(isolation="host", testbed="wire-lab2", kernels=2)),
        "dropped on another": method.setting(condition(isolation="host", testbed="wire_sink-lab2")),
        "set up in several ways": method.setting(condition(isolation=None)),
        "testbed not measured": method.setting(None),
        "softirq": method.softirq([condition()]),
        "softirq, not on the sink": method.softirq([condition(), condition(sender_only=True)]),
        "softirq, one guest": method.softirq([condition(testbed="vm_loopback", guests=1)]),
        "softirq, two guests": method.softirq([condition(guests=2, kernels=2)]),
        "working set cold": method.working_set("cold"),
        "working set of a size": method.working_set("16777216"),
        "rounds in time": method.rounds_in_time(looks, 0.96, 5, 31),
        "as many rounds of all in time": method.rounds_in_time(looks, 0.96, 2, 2),
        "cells of added sizes": method.added_cells(12),
        "congestion control": method.congestion_control("cubic", ["cubic"]),
        "another congestion control": method.congestion_control("bbr", ["cubic", "reno"]),
        "congestion control not known": method.congestion_control("bbr", []),
        "no delay": method.nodelay("on", None),
        "no delay of the kernel": method.nodelay("kernel", None),
        "no delay of round trips": method.nodelay("kernel", {"rows": []}),
        "buffer": method.buffer("send", 65536),
        "buffer of the kernel": method.buffer("receive", "kernel"),
    }
    cpus = {"sender_cpus": ["0,1"], "receiver_cpus": ["1,0"]}
    for name in ("apart", "same", "free"):
        texts[f"processors {name}"] = method.processors(cpus | {"placement": name})
    for name in ("trunc", "mmap", "uring", "other"):
        texts[f"receiver {name}"] = method.receiver(name)
    for reason in ("cycles_counted", "cycles_user_mode_only", "cycles_not_counted"):
        texts[f"cost, {reason}"] = method.cost({"reason": reason, "label": "CPU time"}, [])
    texts["cost on the sink"] = method.cost({"reason": "cycles_counted", "label": "cycles"}, SINKS)
    check_branches("method", texts)


def test_placement() -> None:
    one = {"value": 1.31, "low": 1.22, "high": 1.41, "sign": 1, "once": False, "n": 3}
    group = {"n": 4, "n_sure": 3, "lowest": 0.98, "highest": 1.76, "once": False, "ratio": None}
    effect = words("placement").effect
    texts = {
        f"{study}, {placement}": effect(group | {"study": study, "placement": placement}, 0.95)
        for study in ("streams", "round_trips")
        for placement in ("same", "free")
    }
    group |= {"study": "streams", "placement": "same"}
    texts |= {
        "one is sure": effect(group | {"n_sure": 1}, 0.95),
        "none is sure": effect(group | {"n_sure": 0}, 0.95),
        "observed once": effect(group | {"once": True, "n_sure": 0}, 0.95),
        "one ratio": effect(group | {"n": 1, "lowest": 1.31, "ratio": one}, 0.95),
    }
    check_branches("placement", texts)
