"""The configuration: what is accepted, and how every problem is named."""

import copy
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from copycost.build.toolchain import receivers, strategies
from copycost.config.check import check_config
from copycost.config.config import Config
from copycost.config.grid import Grid
from copycost.config.sources import DEFAULTS, USER_FILE, Source, Surroundings, usual_tree
from copycost.config.strategy_capabilities import capability_of
from copycost.config.yaml_loader import read_sections
from copycost.errors import ConfigError

ROOT = Path(__file__).parents[3]
STRATEGIES = ["two_copy", "one_copy", "zero_copy", "sendmmsg", "mine", "udp_gso", "uring_send"]
AROUND = Surroundings(STRATEGIES, range(2), memory_bytes=8 << 30)
DEFAULT = usual_tree()
WAYS = [name for name in strategies(ROOT) if name != "null"]


def check(
    changes: Mapping[str, Any] = MappingProxyType({}), strategies: Collection[str] = STRATEGIES
) -> Config:
    """Check the default configuration with `changes`, dotted keys and values."""
    over: dict[str, Any] = {}
    for dotted, value in changes.items():
        *sections, key = dotted.split(".")
        node = over
        for section in sections:
            node = node.setdefault(section, {})
        node[key] = value
    around = replace(AROUND, strategies=strategies)
    return check_config([Source("config.yaml", DEFAULT), Source("config.yaml", over)], around)


def problems(changes: Mapping[str, Any]) -> list[str]:
    with pytest.raises(ConfigError) as error:
        check(changes)
    return str(error.value).splitlines()


def checked_file(name: str) -> Config:
    over = yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text(encoding="utf-8"))
    flat = {f"{section}.{key}": value for section in over for key, value in over[section].items()}
    return check({"wire.peer": "me@other"} | flat, strategies=WAYS)


def test_our_configurations_are_sound() -> None:
    config = check()
    assert config.streams.msg_bytes == (256, 1024, 4096, 16384, 65536, 262144, 1048576)
    assert config.measure.send_buffer_bytes is config.measure.cpus.sender is None
    assert config.measure.settings().duration_s == config.measure.duration_s
    for path in (ROOT / "config").glob("*.yaml"):
        checked_file(path.stem)


def test_one_configuration_has_every_way_to_send_and_receive_hot_and_cold() -> None:
    cells = Grid.of(checked_file("every_way")).cells
    assert {cell.strategy for cell in cells} == set(WAYS)
    assert {cell.testbed for cell in cells} == {"veth", "sink", "veth_udp"}
    assert {cell.working_set for cell in cells} == {"hot", "cold"}
    assert {cell.receiver for cell in cells} == set(receivers(ROOT))
    batched = {cell.strategy for cell in cells if cell.batch > 1}
    assert batched == {name for name in WAYS if capability_of(name).batching}


def test_all_stands_for_every_file_that_can_send_on_the_sockets_of_the_grid() -> None:
    over = {"streams.implementations": ["all", "one_copy"], "udp.implementations": ["all"]}
    config = check(over, strategies=[*WAYS, "mine"])
    assert set(config.streams.implementations) == {*WAYS, "mine"} - {"udp_gso"}
    assert len(config.streams.implementations) == len(WAYS)
    assert set(config.udp.implementations) == set(WAYS)
    assert config.round_trips.implementations == ("two_copy", "one_copy", "zero_copy")


def test_a_saved_configuration_reads_back_the_same() -> None:
    config = check({"measure.send_buffer_bytes": "64KiB", "measure.cpus.sender": [1]})
    saved = yaml.safe_load(yaml.safe_dump(config.as_dict()))
    assert Config.from_dict(saved) == config
    assert saved["measure"]["receive_buffer_bytes"] == "kernel"


def test_a_saved_configuration_of_another_version_is_not_taken() -> None:
    for key, value in (("tcp_nodelay", "perhaps"), ("cpus", None)):
        saved = check().as_dict()
        saved["measure"][key] = value
        with pytest.raises(ValueError, match=rf"measure\.{key}: must be"):
            Config.from_dict(saved)
        del saved["measure"][key]
        with pytest.raises(ValueError, match=rf"measure\.{key}: missing, must be"):
            Config.from_dict(saved)


NO_CELL = "must be able to make a cell with the rest of"
FROM_TO = ["two_copy", "zero_copy"]


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("measure.duration_s", -1, "got -1, must be a number of seconds from 0.001 to 3600"),
        ("measure.warmup_s", float("nan"), "got nan, must be a number of seconds from 0 to 3600"),
        ("measure.warmup_s", 1.0, "got 1.0, must be shorter than measure.duration_s, which is 0.2"),
        ("measure.tcp_nodelay", "yes", "got 'yes', must be one of kernel, on, off"),
        ("measure.cpus.sender", [0, 7], "got 7, must be among the CPUs that this process may use"),
        ("measure.interval_us", 500_000, "got 500000, must let at least ten requests into measure"),
        ("streams.n_threads", [], "got [], must be a list of 1 or more, each a whole number of th"),
        ("streams.msg_bytes", ["64 kB"], "got '64 kB', must be a size from 1 B to 64 MiB, such as"),
        ("streams.msg_bytes", ["64KiB", 65536], "has 65536 more than once, must list each value "),
        ("streams.testbeds", ["vet"], "got 'vet', must be one of veth, veth_no_offload, loopback"),
        ("streams.working_sets", ["4MiB"], "got 4 MiB, must be >= 8 MiB, a message of the largest"),
        ("streams.implementations", ["two_copy_x8"], "got 'two_copy_x8', must be two_copy, which "),
        ("streams.implementations", ["two_cpy"], "got 'two_cpy', must be one of mine, one_copy, "),
        ("round_trips.implementations", ["uring_send_x8"], "got 'uring_send_x8', must be uring_se"),
        ("profile.implementations", [*FROM_TO, "udp_gso"], f"got udp_gso, {NO_CELL}"),
        ("udp.receivers", ["mmap"], "got 'mmap', must be one of recv, trunc"),
        ("udp.implementations", ["mine"], f"got mine, {NO_CELL} udp (docs/implementations.md)"),
        ("udp.implementations", ["udp_gso_x64"], f"got udp_gso_x64, {NO_CELL} udp"),
        ("report.title", "x" * 100_000, "has 100000 characters, must have at most 200"),
        ("report.titel", "x", "unknown key; did you mean title?"),
        ("wire.peer", "-oProxyCommand=id", "got '-oProxyCommand=id', must be none, or a machine "),
        ("wire.alias", "Lab 2", "got 'Lab 2', must be auto, or a name of small letters, digits "),
        ("wire.alias", "other", "got other, must be another name: exports call machines without "),
    ],
)
def test_a_problem_is_named_in_one_line(key: str, value: object, text: str) -> None:
    (line,) = problems({key: value})
    assert line.startswith(f"config.yaml: {key}: {text}")


def test_a_missing_key_is_named() -> None:
    raw = copy.deepcopy(DEFAULT)
    del raw["measure"]["duration_s"]
    del raw["report"]
    with pytest.raises(ConfigError) as error:
        check_config([Source("config.yaml", raw)], AROUND)
    assert str(error.value).splitlines() == [
        "config.yaml: measure.duration_s: missing, must be a number of seconds from 0.001 to 3600",
        "config.yaml: report: missing, must be a section with title, formats",
    ]


def test_no_key_has_two_defaults() -> None:
    ours, defaults = (read_sections(ROOT / name) for name in (USER_FILE, DEFAULTS))
    both = {f"{name}.{key}" for name in ours for key in ours[name].keys() & defaults.get(name, {})}
    assert both == set()


def test_lists_that_bring_both_ends_together_are_not_apart() -> None:
    grids = ("streams", "udp", "round_trips", "profile")
    alone = {f"{grid}.n_threads": [1] for grid in (*grids, "placement.streams")}
    free = {f"{grid}.placements": ["free"] for grid in (*grids, "placement")}
    for sender, receiver, connection, cpu, otherwise in (
        ([0], [0], 1, 0, free),
        ([0, 1], [1], 2, 1, alone),
        ([0], [1, 0], 2, 0, alone),
    ):
        cpus = {"measure.cpus.sender": sender, "measure.cpus.receiver": receiver}
        assert problems(cpus) == [
            f"config.yaml: measure.cpus: puts both ends of connection {connection} on CPU {cpu},"
            " must part them where the placement apart is listed; same has them on one CPU"
        ]
        check(cpus | otherwise)


def test_everything_over_a_wire_is_measured_with_each_other_machine() -> None:
    wired = {
        "streams.testbeds": ["veth", "wire", "wire_in-b"],
        "wire.peer": "me@A.example.org:22",
        "wire.more": [{"peer": "other", "alias": "b", "udp_mbit_per_s": 500}],
    }
    config = check(wired)
    named = ("veth", "wire-a-example-org", "wire-b", "wire_in-b")
    assert config.streams.testbeds == named
    assert list(config.wire.peers()) == ["a-example-org", "b"]
    assert config.wire.more[0].udp_mbit_per_s == 500
    # what is saved of it is a configuration again
    assert check_config([Source("saved", config.as_dict())], AROUND).streams.testbeds == named


def caches(**sizes: str | int) -> dict[str, object]:
    ways = {"l1d": 8, "l2": 16, "llc": 16}
    sizes = {"l1d": "32KiB", "l2": "1MiB", "llc": "1MiB"} | sizes
    levels = {name: {"size_bytes": size, "ways": ways[name]} for name, size in sizes.items()}
    return {"simulated.caches": levels}


TWICE = {"wire.peer": "me@lab", "wire.more": [{"peer": "you@lab"}]}
EXPORTED = {"wire.peer": "me@lab", "wire.more": [{"peer": "you@lab", "alias": "other-2"}]}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (TWICE, "wire.more: has lab more than once, must give each machine its own alias"),
        (EXPORTED, "wire.more: got other-2, must be another name: exports call machines without "),
        (
            {"virtual.memory_mib": 8192, "udp.testbeds": ["vm_pair_udp"]},
            "virtual.memory_mib: got 8192, must be <= 4096: 2 guests share the host's memory, 8.0 ",
        ),
        (caches(l2="16KiB"), "simulated.caches.l2: got 16 KiB, must be >= 32 KiB, the size of l1d"),
        (caches(l1d="2MiB", l2="2MiB"), "simulated.caches.llc: got 1 MiB, must be >= 2 MiB, the "),
        (caches(l1d=33281), "simulated.caches.l1d: got 33281 B in 8 ways, must be a multiple "),
    ],
)
def test_what_does_not_go_together_is_named(changes: dict[str, Any], said: str) -> None:
    (line,) = problems(changes)
    assert line.startswith(f"config.yaml: {said}")


def test_what_only_looks_wrong_is_taken() -> None:
    assert check({"wire.peer": "me@other"}).wire.name == "other"
    assert check({"virtual.vhost": False}).virtual.vhost == "off"  # as YAML reads `off`
    check({"virtual.memory_mib": 1 << 20})  # with no guest
    check({"virtual.memory_mib": 1 << 20, "datagrams.testbeds": ["vm_pair_udp"]})  # not enabled
    check({"virtual.memory_mib": 8192, "streams.testbeds": ["vm_host"]} | caches())
