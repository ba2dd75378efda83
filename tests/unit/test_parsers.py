"""Parsers of what kernels and tools print: of a damaged text they say so, and nothing else."""

import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from unit.conftest import HostTree

from copycost.cli.doctor.peer import kind_in, route_in
from copycost.errors import ParseError
from copycost.hosts.cgroups import candidate_hierarchies, throttling_of
from copycost.hosts.facts.cpu import read_cpu
from copycost.hosts.facts.files import HostFiles, Unknowns
from copycost.hosts.facts.identity import read_mitigations
from copycost.hosts.facts.kernel import available_memory_bytes, read_kernel, read_memory, read_net
from copycost.hosts.facts.tools import distribution_family
from copycost.hosts.processes import (
    cpu_times,
    cpu_times_at,
    io_counts,
    on_cpu_and_waiting_ns,
    ticks_of,
)
from copycost.hosts.testbeds.drop_hook import parse_counters
from copycost.measure.drivers.iperf3.driver import listening_ports
from copycost.measure.drivers.iperf3.tool import intervals_of, parse_json, udp_totals
from copycost.observers.kernel_counters import (
    devices_in,
    parse_devices,
    parse_switch,
    snapshot_of,
    snmp_counts,
    waiting_bytes,
)
from copycost.observers.perf.counts import parse_perf
from copycost.observers.perf.stacks import read_samples
from copycost.observers.sampler import is_privileged
from copycost.snakefile.slurm import cluster_in, systems_in
from tests.mutations import mutated_texts, mutated_trees

DATA = Path(__file__).parents[1] / "data"
_PARTS = re.split(
    r"^==> (.+) <==\n", (DATA / "texts" / "kernel.txt").read_text(), flags=re.MULTILINE
)[1:]
TEXTS = dict(zip(_PARTS[::2], _PARTS[1::2], strict=True))
MOUNTS, CGROUPS = TEXTS["proc/self/mounts"], TEXTS["proc/self/cgroup"]


def softnet(text: str) -> object:
    texts = {"proc/net/softnet_stat": text, "proc/stat": TEXTS["proc/stat"], "count": "7\n"}
    (cpu,) = cpu_times_at([(1, texts)], 100)
    return snapshot_of(texts, [TEXTS["proc/net/snmp"]], cpu)


def counts(text: str) -> None:
    assert all((count.value or 0) >= 0 for count in parse_perf(text, "perf stat"))


def samples(text: str) -> object:
    return read_samples(io.BytesIO(text.encode(errors="replace")), "perf script")


def iperf3(text: str) -> None:
    content, _ = parse_json(text, "iperf3")
    intervals_of(content, "iperf3")
    udp_totals(content)


PARSERS: list[tuple[str, Callable[[str], object]]] = [
    ("proc/stat", lambda text: cpu_times(text, 1, 100, 2)),
    ("proc/net/snmp", lambda text: snmp_counts(text, "Udp", "Ip")),
    ("proc/net/dev", devices_in),
    ("proc/net/dev", parse_devices),
    ("proc/net/dev", parse_switch),
    ("proc/net/softnet_stat", softnet),
    ("proc/net/udp", lambda text: waiting_bytes(text, [0x1451])),
    ("proc/net/tcp", listening_ports),
    ("proc/PID/stat", lambda text: ticks_of(text, 100)),
    ("proc/PID/schedstat", on_cpu_and_waiting_ns),
    ("proc/PID/io", io_counts),
    ("proc/self/mounts", lambda text: candidate_hierarchies(text, CGROUPS)),
    ("proc/self/cgroup", lambda text: candidate_hierarchies(MOUNTS, text)),
    ("cpu.stat", lambda text: throttling_of(text, 2)),
    ("nft list counters", parse_counters),
    ("ip", kind_in),
    ("ip route get", route_in),
    ("sinfo", cluster_in),
    ("scontrol", systems_in),
    *((str(path), counts) for path in sorted((DATA / "perf").glob("*.jsonl"))),
    *((str(path), iperf3) for path in sorted((DATA / "iperf3").glob("*.json"))),
    *((str(path), samples) for path in sorted((DATA / "perf_script").glob("*.txt"))),
]


@pytest.mark.parametrize(("source", "parse"), PARSERS, ids=[Path(name).name for name, _ in PARSERS])
def test_a_damaged_text_is_read_or_refused(source: str, parse: Callable[[str], object]) -> None:
    text = TEXTS.get(source) or Path(source).read_text(errors="replace")
    parse(text)
    texts = ["", *mutated_texts(text, 100, seed=1)]
    if source.endswith(".json"):
        texts += map(json.dumps, mutated_trees(json.loads(text), 100, seed=1))
    refused = 0
    for damaged in texts:
        try:
            parse(damaged)
        except ParseError:
            refused += 1
    assert refused < len(texts)


@pytest.mark.parametrize(
    "name", ["amd_server", "arm_board", "intel_hybrid_laptop", "virtual_machine"]
)
def test_a_damaged_fact_of_a_host_is_missing_and_stops_nothing(
    host_tree: HostTree, name: str
) -> None:
    files = host_tree(name)
    paths = sorted(path for path in files.root.rglob("*") if path.is_file())
    rng = random.Random(2)
    for seed in range(100):
        path = rng.choice(paths)
        whole = path.read_bytes()
        (damaged,) = mutated_texts(whole.decode(errors="replace"), 1, seed)
        path.write_text(damaged, errors="replace")
        missing = facts_of(files)
        path.write_bytes(whole)
        assert all(missing.values()), path
    assert facts_of(HostFiles(files.root / "nothing"))


def facts_of(files: HostFiles) -> dict[str, str]:
    """Read every fact; return those that are missing, with their reasons."""
    unknown = Unknowns()
    facts = {
        "cpu": read_cpu(files, "aarch64", unknown),
        "kernel": read_kernel(files, unknown),
        "memory": read_memory(files, 1, unknown),
        "net": read_net(files, unknown),
    }
    for room, found in facts.items():
        for name, value in found.items():
            assert value is not None or f"{room}.{name}" in unknown.reasons
    read_mitigations(files)
    distribution_family(files)
    is_privileged(files)
    available_memory_bytes(files)
    return unknown.reasons
