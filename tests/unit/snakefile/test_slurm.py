"""Which nodes are measured, what is read from Slurm's answers, and what is said of failures."""

import math
import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml
from configured import configured
from unit.compare.hosts.made import write_run

from copycost.compare.hosts.export_command import archive_of
from copycost.compare.hosts.import_archive import read_parcel
from copycost.config.config import Slurm
from copycost.config.grid import Grid
from copycost.errors import ConfigError, HostError
from copycost.snakefile import slurm as nodes
from copycost.snakefile.failed_nodes import LOGS, NODES, SLURM_LOGS, main
from copycost.snakefile.retry import CONFIG_PATH
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


@dataclass
class FakeSlurm:
    """What its commands answer; None where one fails."""

    sinfo: str | None
    scontrol: str | None = ""


@pytest.fixture(autouse=True)
def slurm(monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    """Have sinfo and scontrol answer; returns what to change of that."""
    fake = FakeSlurm(SINFO)

    def run(command: tuple[str, ...], **_: object) -> "subprocess.CompletedProcess[str]":
        answer = {"sinfo": fake.sinfo, "scontrol": fake.scontrol}[command[0]]
        if answer is None:
            raise subprocess.CalledProcessError(1, command, stderr="cannot connect\n")
        return subprocess.CompletedProcess(command, 0, stdout=answer, stderr="")

    nodes.cluster.cache_clear()
    monkeypatch.setattr(nodes.subprocess, "run", run)
    return fake


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


CANCELLED = "slurmstepd{}: error: *** JOB 3 ON n2 CANCELLED AT 2026-01-02T03:04:05{} ***\n"


def test_of_nodes_without_results_it_is_said_why_and_what_they_brought(
    slurm: FakeSlurm,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (LOGS, NODES, SLURM_LOGS / "n1", SLURM_LOGS / "n2"):
        folder.mkdir(parents=True)
    slurm.sinfo = "".join(f"n{k}|a*|2|idle|infinite|(null)\n" for k in (1, 2, 3))
    asked = {"partition": "auto", "nodes": [], "count": 3, "constraint": "none"}
    tree = configured(hosts={"where": ["slurm"], "slurm": asked}).as_dict()
    CONFIG_PATH.write_text(yaml.safe_dump(tree)[:100])  # cut short
    main()
    assert capsys.readouterr().err == ""
    CONFIG_PATH.write_text(yaml.safe_dump(tree))
    (NODES / "n2.zip").touch()
    main()
    said = capsys.readouterr().err
    assert f"nothing has come into {Path.cwd()} from n1, n3: either" in said
    assert "this folder is not shared with the nodes" in said

    (NODES / "n2.zip").unlink()
    run = read_parcel(write_run(tmp_path / "run"), "n1")
    (NODES / "n1.part.zip").write_bytes(archive_of(run))
    for node, end in (("n1", "packed"), ("n2", "no compiler")):
        (LOGS / f"{node}.log").write_text(f"first\nsecond\nthird\nnode {node}: {end}\n")
    (LOGS / "n3.log").write_text("the end\n")
    (NODES / "n3.part.zip").write_bytes(b"no archive")  # merging says why
    for number, text in ((3, CANCELLED.format("", "")), (9, "another end\n")):
        log = SLURM_LOGS / "n2" / f"{number}.log"  # the last job counts
        log.write_text(text)
        os.utime(log, (number, number))
    (SLURM_LOGS / "n1" / "7.log").write_text(CANCELLED.format("-n1", " DUE TO TIME LIMIT"))
    main()
    said = capsys.readouterr().err
    assert f"run: n1: Slurm ended its job (time limit); brought {len(run.records)} of " in said
    assert "run: n2: its job failed; brought 0 of " in said
    assert "    second\n    third\n    node n2: no compiler\n" in said
    assert "first" not in said
    assert "run: n3: its job failed; brought 0 of " in said
