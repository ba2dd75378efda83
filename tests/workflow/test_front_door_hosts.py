"""`./run fetch` and `./run fleet`: what is asked of other hosts, and what becomes of failures."""

import shlex

import pytest
from workflow.front_door import Tree, new_tree

THERE = "cd copycost_fleet && export COPYCOST_PACKAGES=requirements-measure &&"

# Stands for ssh: notes what was asked of which host; `export` answers with an archive.
SSH = """\
while [[ $1 == -* ]]; do if [[ $1 == -o ]]; then shift; fi; shift; done
said=${*:2}
echo "$1: ${said//$'\n'/;}" >>"$TREE/asked"
case "$*" in
*"tar -xf"*) cat >/dev/null ;;
broken*"run measure"*) exit 7 ;;
gone*) exit 255 ;;
*export*) echo "archive of $1" ;;
esac
"""


@pytest.fixture
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    made = new_tree(tmp_path_factory.mktemp("hosts"))
    made.add_tool("ssh", SSH)
    made.add_tool("tar", "echo packed")
    (made.path / "config.yaml").write_text("hosts: {where: [local]}\n")
    return made


def asked(tree: Tree) -> list[str]:
    """Return what each host was asked to do, without what ends it there if we are gone."""
    host_and_words = (
        line.split(": ", 1) for line in (tree.path / "asked").read_text().splitlines()
    )
    attended = (
        (host, shlex.split(said) if said[:5] == "bash " else [said])
        for host, said in host_and_words
    )
    return [f"{host}: {words[-1]}" for host, words in attended]


def test_hosts_are_measured_and_their_results_merged(tree: Tree) -> None:
    done = tree.run("fetch", "lab=alice@one", "two", "--configfile", "config/tiny.yaml")
    assert done.returncode == 0, done.stderr
    assert asked(tree) == [
        "alice@one: mkdir -p copycost_fleet && tar -xf - -C copycost_fleet",
        f"alice@one: {THERE} ./run measure --configfile config/tiny.yaml",
        f"alice@one: {THERE} ./run export - --alias lab",
        "two: mkdir -p copycost_fleet && tar -xf - -C copycost_fleet",
        f"two: {THERE} ./run measure --configfile config/tiny.yaml",
        f"two: {THERE} ./run export - --alias two",
    ]
    nodes = tree.path / "results/nodes"
    assert (nodes / "lab.zip").read_text() == "archive of alice@one\n"
    assert "-m copycost merge --update results/nodes/lab.zip results/nodes/two.zip" in tree.calls()


def test_a_host_that_fails_costs_the_others_nothing(tree: Tree) -> None:
    done = tree.run("fetch", "gone", "broken", "good")
    assert done.returncode == 1
    assert "not fetched: gone broken" in done.stderr
    merged = [call for call in tree.calls() if "copycost merge" in call]
    assert merged == [
        "-m copycost merge --update results/nodes/broken.part.zip results/nodes/good.zip"
    ]


def test_who_only_looks_merges_nothing(tree: Tree) -> None:
    assert tree.run("fetch", "one", "-np").returncode == 0
    assert asked(tree)[-1] == f"one: {THERE} ./run setup && ./run measure -np"
    assert not any("merge" in call for call in tree.calls())


def test_after_a_failure_nodes_that_wrote_nothing_are_looked_for(tree: Tree) -> None:
    lock = tree.path / "envs/requirements-slurm.txt"
    lock.write_text("")
    tree.stamp("requirements-slurm")
    tree.add_tool("sbatch", "exit 0")
    looked = "-m copycost.snakefile.failed_nodes"
    assert tree.run("fleet", PLACES="slurm").returncode == 0
    assert tree.run("fleet", "-n", PLACES="slurm", SNAKEMAKE_EXIT="1").returncode == 1
    assert looked not in tree.calls()
    assert tree.run("fleet", PLACES="slurm", SNAKEMAKE_EXIT="1").returncode == 1
    assert looked in tree.calls()
