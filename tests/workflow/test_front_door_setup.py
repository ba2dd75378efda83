"""`./run` in a tree of its own: what it installs, and when it makes the environment anew."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from programs import until
from workflow.front_door import LIMIT_S, Tree, as_somebody


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: nothing may be installed here")
def test_root_installs_only_what_is_missing_and_goes_on(tree: Tree) -> None:
    (tree.tools / "cc").unlink()
    tree.add_tool(
        "apt-get",
        """\
        echo "apt-get $*" >>"$TREE/calls"
        if [[ "$*" == *" install "* ]]; then ln -s perf "$TOOLS/cc"; fi
        """,
    )
    assert tree.run().returncode == 0
    update, install, measure = tree.calls()[:3]
    assert update.endswith(" update")
    assert install.endswith(" install --no-install-recommends -y gcc")
    assert measure.startswith("-m snakemake")


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: nothing may be installed here")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="guests are made for x86_64 alone")
@pytest.mark.parametrize(
    ("testbeds", "asked_for"),
    [("[veth] # or vm_pair", False), ("[vm_pair]", True), ("\n  - vm_loopback", True)],
)
def test_guests_are_set_up_where_the_configuration_lists_one(
    tree: Tree, testbeds: str, asked_for: bool
) -> None:
    (tree.path / "config.yaml").write_text(f"streams:\n  testbeds: {testbeds}\n")
    tree.add_tool("apt-get", 'echo "apt-get $*" >>"$TREE/calls"')
    tree.add_tool("apt-cache", "exit 0")
    assert tree.run().returncode == 0
    installs = [call for call in tree.calls() if " install " in call]
    wanted = [call for call in installs if "-y qemu-system-x86 busybox-static" in call]
    assert (len(wanted) > 0) == asked_for == (len(installs) > 0)


def test_what_cannot_be_installed_is_named_with_the_command_that_would(tree: Tree) -> None:
    (tree.tools / "cc").unlink()
    (tree.tools / "perf").unlink()
    tree.add_tool("apt-get", 'echo "apt-get $*" >>"$TREE/calls"; exit 1')
    tree.add_tool("sudo", "exit 1")  # it would ask for a password
    done = tree.call([*as_somebody(), str(tree.path / "run")])
    assert done.returncode == 1
    assert "sudo apt-get install gcc linux-" in done.stderr  # which perf is part of
    assert "no C compiler" in done.stderr
    assert tree.calls() == []


def test_missing_perf_costs_counters_but_not_the_run(tree: Tree) -> None:
    tree.add_tool("perf", 'echo "perf not found for kernel" >&2; exit 2')
    done = tree.run()
    assert done.returncode == 0
    assert "no counters" in done.stderr
    assert tree.calls()[0].startswith("-m snakemake")


def system_python(tree: Tree) -> None:
    """Put the interpreter under the tests' own environment on the PATH, as the system's."""
    tree.add_tool("python3", f'exec "{Path(sys.executable).resolve()}" "$@"')


@pytest.mark.parametrize("damage", ["no stamp", "lock changed", "tree moved", "no python", "no uv"])
def test_environment_that_is_not_whole_is_made_anew(tree: Tree, damage: str) -> None:
    tree.add_tool(
        "python3",
        f"""\
        if [[ $3 == door ]]; then exec {sys.executable} "$@"; fi
        if [[ $2 == venv ]]; then
            {shutil.which("mkdir")} -p "$3/bin"
            {shutil.which("cp")} "$TOOLS/note" "$3/bin/python"
        fi
        """,
    )
    shutil.copy(tree.path / ".venv/bin/python", tree.tools / "note")
    if damage in ("no stamp", "no uv"):
        (tree.path / ".venv/requirements.stamp").unlink()
    elif damage == "lock changed":
        (tree.path / "envs/requirements.txt").write_text("# another\n")
    elif damage == "tree moved":
        tree.path = tree.path.rename(tree.path.with_name("elsewhere"))
    else:
        (tree.path / ".venv/bin/python").unlink()
    leftover = tree.path / ".venv/leftover"
    leftover.touch()

    done = tree.run(FAILS="uv" if damage == "no uv" else "")

    assert done.returncode == 0
    assert "making the Python environment" in done.stderr
    assert not leftover.exists()
    exactly = "--no-deps --require-hashes --requirement envs"
    assert tree.calls()[0].startswith("-m pip install")
    assert tree.calls()[0].endswith(f"{exactly}/uv.txt")
    assert tree.calls()[1].startswith("-m uv pip install")
    assert tree.calls()[1].endswith(f"{exactly}/requirements.txt")
    if damage == "no uv":
        assert tree.calls()[2].startswith("-m pip install")
        assert tree.calls()[2].endswith(f"{exactly}/requirements.txt")
    assert tree.calls()[2 + (damage == "no uv")].startswith("-m snakemake")
    assert "making" not in tree.run().stderr


@pytest.mark.slow
def test_real_environment_is_made_once_its_packages_can_be_had(tree: Tree) -> None:
    system_python(tree)
    lock, stamp = tree.path / "envs/requirements.txt", tree.path / ".venv/requirements.stamp"
    whole = lock.read_text()
    lock.write_text("./nothing-here.whl --hash=sha256:" + "0" * 64 + "\n")
    done = tree.run()
    assert done.returncode == 1
    assert "pip's words are in results/logs/setup.log, the last are: ERROR: " in done.stderr
    assert "nothing-here" in (tree.path / "results/logs/setup.log").read_text(encoding="utf-8")
    assert not stamp.exists()
    lock.write_text(whole)
    assert "making the Python environment" in tree.run("test", "--bench").stderr
    assert (tree.path / ".venv/bin/pip").exists()
    assert "making the Python environment" not in tree.run("test", "--bench").stderr


@pytest.fixture
def bare(tree: Tree) -> Tree:
    """A tree without environment and compiler, on a machine with Python and apt."""
    system_python(tree)
    shutil.rmtree(tree.path / ".venv")
    (tree.tools / "cc").unlink()
    tree.add_tool("apt-get", 'echo "apt-get $*" >>"$TREE/calls"; exit 1')
    tree.add_tool("sudo", 'shift; exec "$@"')
    return tree


@pytest.mark.parametrize(
    ("given", "exit_code", "said"),
    [
        (["help"], 0, "Usage: ./run "),
        (["-n"], 1, "run: the Python environment is missing"),
        (["plan", "--gbps", "10"], 1, "; ./run setup makes it\n"),
        (["--retry-failed", "--confgfile=x"], 1, "did you mean --configfile?"),
        (["fetch"], 1, "name hosts as ssh knows them"),
        (["fetch", "one", "a;b"], 1, "run: fetch: 'a;b' is no host"),
        (["fetch", "one"], 1, "run: fetch: ssh is missing; to install: sudo apt-get install "),
        (["fleet", "--snakefile", "nope"], 1, "run: --snakefile nope: there is no such file in "),
        (["setup", "tests"], 1, "there is no such thing to set up"),
        (["test", "ruf"], 2, "run: test ruf: there is no such check"),
        (["test", "--bench", "--help"], 0, "usage: ./run test --bench "),
    ],
)
def test_who_asks_or_errs_is_answered_at_once_and_nothing_is_made(
    bare: Tree, given: list[str], exit_code: int, said: str
) -> None:
    for name in ("head", "mktemp"):
        (bare.tools / name).symlink_to(shutil.which(name) or pytest.skip(f"no {name}"))
    start_s = time.monotonic()
    done = bare.run(*given)
    assert time.monotonic() - start_s < 10.0  # a second on a free host
    assert done.returncode == exit_code, done.stderr
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert bare.calls() == []
    assert not (bare.path / ".venv").exists()
    assert not (bare.path / "results").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: nothing may be installed here")
def test_what_apt_says_goes_to_a_log_that_is_named_where_it_fails(tree: Tree) -> None:
    (tree.tools / "iperf3").unlink()
    tree.add_tool("apt-get", 'echo "many words of apt"; [[ "$*" != *" install "* ]]')
    done = tree.run("setup")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "run: updating the lists of system packages ... done",
        "run: installing iperf3 ... failed",
        "run: could not install iperf3; apt-get's words are in results/logs/setup.log",
        "run: set up: all that is available here is installed",
    ]
    log = (tree.path / "results/logs/setup.log").read_text(encoding="utf-8")
    assert log.count("many words of apt") == 2
    assert " install --no-install-recommends -y iperf3\n" in log


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: nothing may be installed here")
def test_setup_that_is_interrupted_says_one_line(tree: Tree) -> None:
    (tree.tools / "sleep").symlink_to(shutil.which("sleep"))
    (tree.tools / "iperf3").unlink()
    tree.add_tool("apt-get", 'echo $$ >"$TREE/pid"; exec sleep 600')
    running = subprocess.Popen(
        [tree.path / "run"],
        env=tree.variables(),
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    until((tree.path / "pid").exists, LIMIT_S)
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=LIMIT_S)
    assert running.returncode == 130
    first, second = said.splitlines()
    assert first.startswith("run: updating the lists of system packages")
    assert second.startswith("run: interrupted; what was measured stays, and the same command ")
