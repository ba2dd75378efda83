"""What is read from the answers of Slurm's commands."""

import pytest
from unit.snakefile.fake_slurm import FakeSlurm, fake_slurm

from copycost.errors import ConfigError, HostError
from copycost.snakefile.slurm import System, node_of, offered, system_of

# `scontrol show node --oneliner` of Slurm 22.05.8; cut, and a limit added
N1 = (
    "NodeName=n1 Arch=x86_64 CoresPerSocket=1  CPUAlloc=0 CPUEfctv=2 CPUTot=2 CPULoad=5.20 "
    "AvailableFeatures=(null) Gres=(null) NodeAddr=127.0.0.1 NodeHostName=rack Port=16821 "
    "Version=22.05.8 OS=Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1  "
    "RealMemory={memory} AllocMem=0 FreeMem=19798 Sockets=2 Boards=1 {limit}State=IDLE "
    "CfgTRES=cpu=2,mem=1M,billing=2 AllocTRES= \n"
)


@pytest.fixture(autouse=True)
def slurm(monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    return fake_slurm(monkeypatch, "n1|a|64+|idle|30:00|(null)\nn1|b*|64+|idle|infinite|(null)\n")


def test_a_node_is_in_all_its_partitions() -> None:
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


def test_kernel_and_memory_of_a_node_are_told(slurm: FakeSlurm) -> None:
    kernel = "Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1"
    slurm.scontrol = N1.format(memory=64000, limit="")
    assert system_of("n1") == System(kernel, 64000)


@pytest.mark.parametrize("answer", [N1.format(memory=1, limit=""), "NodeName=n1 State=DOWN\n", ""])
def test_where_the_memory_is_not_told_as_much_is_asked_for_as_usual(
    slurm: FakeSlurm, answer: str
) -> None:
    slurm.scontrol = answer
    assert system_of("n1").memory_mb == 1000


def test_a_cluster_that_does_not_answer_is_said(slurm: FakeSlurm) -> None:
    slurm.sinfo = slurm.scontrol = None
    with pytest.raises(HostError, match=r"sinfo cannot be asked .*cannot connect"):
        offered(None)
    with pytest.raises(HostError, match="scontrol cannot be asked"):
        system_of("n1")


def test_a_cluster_without_a_default_partition_needs_a_name(slurm: FakeSlurm) -> None:
    slurm.sinfo = "n1|a|2|idle|infinite|(null)\n"
    assert set(offered("a")) == {"n1"}
    with pytest.raises(ConfigError, match="no default partition, so name one"):
        offered(None)
