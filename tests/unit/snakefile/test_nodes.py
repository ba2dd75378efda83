import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from copycost.build.checkout import ROOT
from copycost.config.check import check_config
from copycost.config.hosts import Slurm
from copycost.config.places import places
from copycost.config.problems import Surroundings
from copycost.errors import ConfigError, HostError
from copycost.fleet.names import require_name
from copycost.snakefile import nodes

ANY = Slurm(partition=None, nodes=(), count=2, constraint=None)
SINFO = "n2 64 amd,ib\nn10 8 (null)\nn1 64+ amd\n"


@pytest.fixture(autouse=True)
def _sinfo(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        assert command[0] == "sinfo"
        if "down" in command:
            raise subprocess.CalledProcessError(1, command, stderr="cannot connect\n")
        return subprocess.CompletedProcess(command, 0, stdout=SINFO, stderr="")

    nodes.offered.cache_clear()
    monkeypatch.setattr(nodes.subprocess, "run", run)


def test_nodes_that_are_named_are_taken() -> None:
    assert nodes.chosen_nodes(replace(ANY, nodes=("n10",))) == ["n10"]


def test_else_as_many_as_wanted_that_fit() -> None:
    assert nodes.chosen_nodes(replace(ANY, constraint="amd")) == ["n1", "n2"]
    assert nodes.chosen_nodes(replace(ANY, count=1, constraint="intel|amd&ib")) == ["n2"]


@pytest.mark.parametrize(
    ("slurm", "said"),
    [
        (replace(ANY, nodes=("n3",)), "n3 not among what sinfo shows"),
        (replace(ANY, count=0), "name nodes, or say in count"),
        (replace(ANY, count=9), "9 nodes are wanted, and sinfo shows 3"),
    ],
)
def test_what_cannot_be_is_said(slurm: Slurm, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        nodes.chosen_nodes(slurm)


def test_a_cluster_that_does_not_answer_is_said() -> None:
    with pytest.raises(HostError, match="cannot connect"):
        nodes.chosen_nodes(replace(ANY, partition="down"))


def test_all_cpus_of_a_node_are_asked_for() -> None:
    assert (nodes.n_cpus("n1"), nodes.n_cpus("n10")) == (64, 8)


@pytest.mark.parametrize("node", ["n1", "Rack-2.example.org", "N" * 60, "a."])
def test_a_node_has_a_name_that_a_host_may_have(node: str) -> None:
    require_name(nodes.host_name(node), node)


def test_the_last_file_says_where(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a", "b", "c")]
    for path, text in zip(files, ("hosts: {where: [local]}", "hosts: {where: [slurm]}", "x: 1"),
                          strict=True):  # fmt: skip
        path.write_text(text)
    assert places(files) == ["slurm"]


def test_what_nodes_are_measured_and_for_how_long_is_said() -> None:
    tree = yaml.safe_load((ROOT / "config.yaml").read_text())
    around = Surroundings(["two_copy", "one_copy", "zero_copy"], range(64))
    config = check_config(tree, sources=[("config.yaml", tree)], around=around)
    said = nodes.said_of_nodes(config, ["n1", "n2"], nodes.job_minutes(config), would=True)
    assert "a run would measure 2 nodes (n1, n2), each by one job that has it alone" in said
    assert f"{nodes.job_minutes(config)} min at most" in said
    assert "this measures 1 node (n1)" in nodes.said_of_nodes(config, ["n1"], 20, would=False)
