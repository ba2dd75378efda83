"""`./run` in a tree of its own: what it calls and says, and how it ends."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from programs import add_program, alive, until
from workflow.front_door import LIMIT_S, PYTHON, Tree, as_somebody

from copycost.cli.command_line import usual_cores
from copycost.snakefile.messages import COMMANDS

CORES = f"--cores {usual_cores()}"


@pytest.mark.parametrize("option", [[], ["-n"], ["--configfile=missing.yaml"]])
def test_arguments_reach_snakemake_once_failed_records_are_forgotten(
    tree: Tree, option: list[str]
) -> None:
    tree.run("report", "--retry-failed", "--config", "report={title: =}", *option)
    forget, measure = "-m copycost.snakefile.retry", "--config report={title: =}"
    assert (forget in tree.calls()) == (not option), "where something will be measured"
    if not option:
        assert tree.calls() == [forget, f"-m snakemake {CORES} report {measure}"]


def test_config_files_are_looked_at_before_snakemake_does(tree: Tree) -> None:
    (tree.path / "broken.yaml").touch()
    done = tree.run("--configfile", "config/tiny.yaml", "broken.yaml")
    assert done.returncode == 0
    assert tree.calls()[0] == "-m copycost.config.sources config/tiny.yaml broken.yaml"
    assert tree.run("tables", "--configfile=broken.yaml").returncode == 1
    assert tree.calls()[-1] == "-m copycost.config.sources broken.yaml"


@pytest.mark.parametrize(
    ("owner", "said", "remedy"),
    [(12345, "belongs to ", "sudo chown -R"), (None, "is read-only; ", "")],
    ids=["of another user", "read-only"],
)
def test_a_folder_that_cannot_be_written_is_named_before_anything_runs(
    tree: Tree, owner: int | None, said: str, remedy: str
) -> None:
    results = tree.path / "results"
    results.mkdir(mode=0o555)
    if owner is not None:
        if os.geteuid() != 0:
            pytest.skip("not root: nothing can be given to another user")
        os.chown(results, owner, owner)
    for words in ([], ["setup"], ["fetch", "one"]):
        done = tree.call([*as_somebody(), str(tree.path / "run"), *words])
        assert done.returncode == 1
        assert f"{results} {said}" in done.stderr
        assert remedy in done.stderr
        assert "Traceback" not in done.stderr
        assert tree.calls() == []


@pytest.mark.parametrize(("status", "starts"), [("0", 1), ("1", 2), ("3", 2), ("7", 1)])
def test_what_is_set_aside_meanwhile_is_made_again_by_the_same_run(
    tree: Tree, status: str, starts: int
) -> None:
    (tree.path / "results/aside").mkdir(parents=True)
    assert tree.run(SNAKEMAKE_EXIT=status, SET_ASIDE="a note").returncode == int(status)
    assert tree.calls() == [f"-m snakemake {CORES}"] * starts


@pytest.mark.parametrize(
    ("sent", "to_group", "exit_code"),
    [
        pytest.param(signal.SIGINT, True, 130, id="Ctrl-C"),
        pytest.param(signal.SIGTERM, False, -signal.SIGTERM, id="kill"),
        pytest.param(signal.SIGKILL, False, -signal.SIGKILL, id="kill -9"),
    ],
)
def test_run_that_is_ended_leaves_no_snakemake_behind(
    tree: Tree, sent: signal.Signals, to_group: bool, exit_code: int
) -> None:
    add_program(
        tree.tools / "hang",
        f"#!{Path(sys.executable).resolve()}\nimport signal, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
        "signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})\n"  # as the launcher does
        "time.sleep(600)\n",
    )
    running = subprocess.Popen(
        [tree.path / "run"], env=tree.variables() | {"HANG": "yes"}, start_new_session=True
    )
    note = tree.path / "pid"
    until(lambda: note.exists() and note.read_text().endswith("\n"), LIMIT_S)
    snakemake = int(note.read_text())
    (os.killpg if to_group else os.kill)(running.pid, sent)
    assert running.wait(LIMIT_S) == exit_code
    until(lambda: not alive(snakemake), LIMIT_S)


@pytest.mark.parametrize(
    ("home", "cache"), [("{tree}/home", ""), ("/dev/null", "{tree}/.snakemake/cache")]
)
def test_a_cache_that_cannot_be_made_moves_into_the_folder(
    tree: Tree, home: str, cache: str
) -> None:
    (tree.tools / "setpriv").unlink()
    tree.add_tool("setpriv", 'echo "cache=${XDG_CACHE_HOME:-}" >>"$TREE/calls"')
    assert tree.run(HOME=home.format(tree=tree.path)).returncode == 0
    assert tree.calls()[0] == f"cache={cache.format(tree=tree.path)}"


def test_packages_and_profiles_of_other_projects_are_not_taken(tree: Tree) -> None:
    (tree.tools / "setpriv").unlink()
    tree.add_tool("setpriv", 'env | grep -E "^(PYTHON|SNAKEMAKE)" >>"$TREE/calls"; true')
    (tree.path / "yaml.py").write_text("raise SystemExit('not ours')\n")
    others = {"PYTHONPATH": str(tree.path), "PYTHONHOME": "/nowhere", "SNAKEMAKE_PROFILE": "slurm"}
    assert tree.run(**others).returncode == 0
    assert tree.calls() == []


def test_doctor_needs_no_environment_and_installs_nothing(tree: Tree) -> None:
    shutil.rmtree(tree.path / ".venv")
    (tree.tools / "cc").unlink()
    tree.add_tool("python3", PYTHON)
    tree.add_tool("apt-get", 'echo "apt-get $*" >>"$TREE/calls"; exit 1')
    done = tree.run("doctor")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("copycost doctor: ")
    titles = ("Testbeds", "Counters", "Virtual machines")
    assert all(f"\n{title}\n" in done.stdout for title in titles)
    assert not [call for call in tree.calls() if "apt-get" in call]


def test_doctor_without_a_recent_python_says_so(tree: Tree) -> None:
    shutil.rmtree(tree.path / ".venv")
    tree.add_tool("python3", "exit 1")  # what an older one answers when asked for its version
    done = tree.run("doctor")
    assert done.returncode == 1
    assert "no Python >= 3.11" in done.stderr


def test_help_names_every_command_and_no_more_than_people_read(tree: Tree) -> None:
    shown = re.findall(r"^(?:Usage:)? +\./run ([a-z]+)", tree.run("help").stdout, re.MULTILINE)
    assert sorted([*shown, "help"]) == sorted(COMMANDS)
    assert len(shown) <= 12
    assert tree.calls() == []
