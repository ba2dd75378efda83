"""Which nodes are measured, and what is read from the answers of Slurm's commands."""

import math
from dataclasses import replace

import pytest
from configured import configured
from unit.snakefile.fake_slurm import FakeSlurm, fake_slurm

from copycost.config.config import Slurm
from copycost.config.grid import Grid
from copycost.errors import ConfigError, HostError
from copycost.snakefile import slurm as nodes
from copycost.snakefile.slurm import node_of, offered, time_limit_of

ANY = Slurm(partition=None, nodes=(), count=2, constraint=None)


def chosen(asked: Slurm) -> list[str]:
    return nodes.chosen_nodes(replace(configured().hosts, where=("slurm",), slurm=asked))


SINFO = """\
n2|short*|64|idle|20:00|amd,ib
n2|long|64|idle|2-12:00:00|amd,ib
n10|short*|8|mixed|20:00|(null)
n1|short*|64+|idle~|20:00|amd
n3|short*|8|drained|20:00|amd
n4|short*|8|DOWN*|20:00|amd
n_5|long|4|idle*|2-12:00:00|intel
n6|long|4|allocated|2-12:00:00|intel
"""


@pytest.fixture(autouse=True)
def slurm(monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    return fake_slurm(monkeypatch, SINFO)


@pytest.mark.parametrize(
    ("asked", "taken"),
    [
        (replace(ANY, nodes=("n10",)), "n10"),
        (replace(ANY, constraint="amd"), "n1 n2"),
        (replace(ANY, count=1, constraint="intel|amd&ib"), "n2"),
        (replace(ANY, count=3), "n1 n10 n2"),
    ],
)
def test_nodes_that_are_named_are_taken_else_as_many_as_wanted_that_fit_and_can_be_used(
    asked: Slurm, taken: str
) -> None:
    assert chosen(asked) == taken.split()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (replace(ANY, nodes=("n6",)), r"n6 not among what sinfo shows of the default partition"),
        (replace(ANY, nodes=("n6",), partition="x"), r"n6 not among what sinfo shows of x \(noth"),
        (replace(ANY, nodes=("n10", "n2"), constraint="ib"), "n10 without the features of constr"),
        (replace(ANY, count=0), "name nodes, say in count"),
        (replace(ANY, count=9), r"got 9, must be <= 3, the nodes .* \(n1, n10, n2\)"),
        (replace(ANY, count=0, constraint="intel"), "got intel, must be features of nodes that"),
    ],
)
def test_what_cannot_be_is_said(asked: Slurm, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        chosen(asked)


def test_nodes_that_would_be_taken_for_one_host_are_refused(slurm: FakeSlurm) -> None:
    slurm.sinfo = "n_1|all*|2|idle|infinite|(null)\nn-1|all*|2|idle|infinite|(null)\n"
    with pytest.raises(ConfigError, match="n-1 and n_1 would both be called n-1"):
        chosen(ANY)


def test_a_partition_that_ends_jobs_early_and_nodes_that_wait_for_repair_are_said() -> None:
    config = configured()
    limit_min = nodes.job_minutes(config, time_limit_of(None))
    assert limit_min == 20
    said = nodes.said_of_nodes(config, ["n1", "n3"], limit_min, would=True)
    assert "a run would measure 2 nodes (n1, n3)" in said
    assert "20 min at most" in said
    assert "Slurm begins no job now on n3 (drained); one waits until" in said
    assert "That limit may end a job before it is through" in said
    assert nodes.job_minutes(config, time_limit_of("long")) == nodes.job_minutes(config)


def test_only_what_a_node_measures_is_forecast() -> None:
    config = configured(measure={"warmup_s": 0.3, "duration_s": 1.0})
    config = replace(config, measure=replace(config.measure, minutes=None))
    grid_min = Grid.of(config).n_repetitions(config) * 3.5 / 60
    assert nodes.job_minutes(config) == math.ceil(10 + 2 * grid_min)
    longer = replace(config, cpu_budget=replace(config.cpu_budget, repetitions=500))
    assert nodes.job_minutes(longer) == nodes.job_minutes(config)
    more = replace(config, measure=replace(config.measure, minutes=2 * grid_min))
    assert nodes.job_minutes(more) == math.ceil(10 + 4 * grid_min)


# `scontrol show node --oneliner` of Slurm 22.05.8; cut, and a limit added
N1 = (
    "NodeName=n1 Arch=x86_64 CoresPerSocket=1  CPUAlloc=0 CPUEfctv=2 CPUTot=2 CPULoad=5.20 "
    "AvailableFeatures=(null) Gres=(null) NodeAddr=127.0.0.1 NodeHostName=rack Port=16821 "
    "Version=22.05.8 OS=Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1  "
    "RealMemory={memory} AllocMem=0 FreeMem=19798 Sockets=2 Boards=1 State=IDLE "
    "CfgTRES=cpu=2,mem=1M,billing=2 AllocTRES= \n"
)


def test_a_node_is_in_all_its_partitions(slurm: FakeSlurm) -> None:
    slurm.sinfo = "n1|a|64+|idle|30:00|(null)\nn1|b*|64+|idle|infinite|(null)\n"
    assert offered("a") == offered("b") == offered(None) == {"n1": node_of("n1")}
    assert node_of("n1").n_cpus == 64
    assert offered("c") == {}


@pytest.mark.parametrize(
    ("state", "is_lost"),
    [("idle", False), ("mixed-", False), ("allocated+", False), ("idle~", False), ("maint", False),
     ("planned", False), ("down", True), ("drained*", True), ("draining@", True), ("failing", True),
     ("idle*", True), ("inval", True)],
)  # fmt: skip
def test_a_node_on_which_no_job_would_begin_is_lost(
    slurm: FakeSlurm, state: str, is_lost: bool
) -> None:
    slurm.sinfo = f"n1|a*|2|{state}|infinite|(null)\n"
    assert node_of("n1").is_lost == is_lost


def test_kernel_and_memory_of_a_node_are_told_or_the_usual_is_asked_for(slurm: FakeSlurm) -> None:
    kernel = "Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1"
    slurm.scontrol = N1.format(memory=64000)
    assert (node_of("n1").kernel, node_of("n1").memory_mb) == (kernel, 64000)
    for answer in (N1.format(memory=1), "NodeName=n1 State=DOWN\n", ""):
        slurm.scontrol = answer
        nodes.cluster.cache_clear()
        assert node_of("n1").memory_mb == 1000


@pytest.mark.parametrize("command", ["sinfo", "scontrol"])
def test_a_cluster_that_does_not_answer_is_said(slurm: FakeSlurm, command: str) -> None:
    setattr(slurm, command, None)
    with pytest.raises(HostError, match=rf"{command} cannot be asked .*cannot connect"):
        offered(None)
