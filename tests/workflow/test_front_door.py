"""`./run` in a tree of its own: what it calls, installs, rebuilds and says."""

import hashlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Everything that `run` itself takes from the system, besides what it looks for.
TOOLS = ["bash", "cat", "cut", "dirname", "env", "flock", "grep", "ln", "readlink", "rm"]
TOOLS += ["setpriv", "sha256sum", "test", "tr", "true", "uname"]

# Stands for .venv/bin/python: notes how it was called; the exit codes are the test's.
PYTHON = """\
#!/bin/bash
echo "$*" >>"$TREE/calls"
case $2 in
pip) ;;
snakemake) if [[ -n ${HANG:-} ]]; then echo $$ >"$TREE/pid"; exec sleep 60; fi ;;&
snakemake) exit "${SNAKEMAKE_EXIT:-0}" ;;
copycost.retry) if [[ ${3:-} == --count ]]; then echo "${FAILED:-0}"; fi ;;
"import sys"* | copycost.hostinfo.doctor | copycost.bench) ;;
copycost.config_sources) if [[ $3 == *broken* ]]; then exit 1; fi ;;
*) echo "unexpected: $*" >&2; exit 99 ;;
esac
"""


@dataclass
class Tree:
    """A copy of the front door with a Python that only takes notes, and a PATH of its own."""

    path: Path
    tools: Path

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.call([str(self.path / "run"), *arguments], **environment)

    def call(self, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            env=self.variables() | environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def variables(self) -> dict[str, str]:
        return {
            "PATH": str(self.tools),
            "TREE": str(self.path),
            "TOOLS": str(self.tools),
            "LC_ALL": "C",
        }

    def calls(self) -> list[str]:
        notes = self.path / "calls"
        return notes.read_text().splitlines() if notes.exists() else []

    def add_tool(self, name: str, script: str) -> None:
        tool = self.tools / name
        tool.write_text("#!/bin/bash\n" + textwrap.dedent(script))
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)

    def stamp(self, lock: str = "requirements") -> None:
        """Mark the environment as whole, as `run` does."""
        digest = hashlib.sha256((self.path / f"envs/{lock}.txt").read_bytes()).hexdigest()
        python = (self.path / ".venv/bin/python").resolve()
        (self.path / f".venv/{lock}.stamp").write_text(f"{digest}  - {python} {self.path}\n")


def as_somebody() -> list[str]:
    """Return the words before a command that take its being root away."""
    words = [shutil.which("unshare") or "unshare", "--user", "--map-user=1000"]
    try:
        subprocess.run([*words, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this host allows no user namespace")
    return words


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    path = tmp_path / "tree with space"
    (path / "envs").mkdir(parents=True)
    shutil.copy2(ROOT / "run", path / "run")
    (path / "config").mkdir()
    (path / "config/tiny.yaml").touch()
    for lock in ("requirements", "requirements-dev"):
        (path / f"envs/{lock}.txt").write_text("# nothing: pip has nothing to fetch\n")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(shutil.which(name) or pytest.skip(f"no {name} on this host"))
    tree = Tree(path, tools)
    for name in ("cc", "perf", "ip", "ethtool", "iperf3", "nft"):
        tree.add_tool(name, "exit 0")
    (path / ".venv/bin").mkdir(parents=True)
    python = path / ".venv/bin/python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    tree.stamp()
    return tree


@pytest.mark.parametrize(
    ("given", "passed_on"),
    [
        ([], "--cores 1"),
        (["-n"], "--cores 1 -n"),
        (["--cores", "2"], "--cores 2"),
        (["-c2", "tables"], "-c2 tables"),
        (["--jobs=3"], "--jobs=3"),
        (["--configfile", "config/tiny.yaml"], "--cores 1 --configfile config/tiny.yaml"),
        (["results/raw/a b.json"], "--cores 1 results/raw/a b.json"),
    ],
)
def test_arguments_reach_snakemake(tree: Tree, given: list[str], passed_on: str) -> None:
    assert tree.run(*given).returncode == 0
    assert f"-m snakemake {passed_on}" in tree.calls()


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["--configfile", "mine.yaml"], "mine.yaml"),
        (["--configfile=mine.yaml"], "mine.yaml"),
        (["--configfile", "config/tiny.yaml", "tables"], "tables"),
    ],
)
def test_missing_config_file_is_named_before_anything_runs(
    tree: Tree, given: list[str], found: str
) -> None:
    done = tree.run(*given)
    assert done.returncode == 1
    assert f"--configfile {found}: there is no such file" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not tree.calls()


def test_config_files_are_looked_at_before_snakemake_does(tree: Tree) -> None:
    (tree.path / "broken.yaml").touch()
    done = tree.run("--configfile", "config/tiny.yaml", "broken.yaml")
    assert done.returncode == 0
    assert tree.calls()[0] == "-m copycost.config_sources config/tiny.yaml broken.yaml"
    assert tree.run("tables", "--configfile=broken.yaml").returncode == 1
    assert tree.calls()[-1] == "-m copycost.config_sources broken.yaml"


def test_results_of_another_user_are_named_before_anything_runs(tree: Tree) -> None:
    for name in ("id", "stat"):
        (tree.tools / name).symlink_to(shutil.which(name))
    results = tree.path / "results"
    results.mkdir(mode=0o555)
    done = tree.call([*as_somebody(), str(tree.path / "run")])
    assert done.returncode == 1
    assert f"{results} belongs to " in done.stderr
    assert "sudo chown -R" in done.stderr
    assert tree.calls() == []


def test_exit_code_of_snakemake_passes_through(tree: Tree) -> None:
    assert tree.run(SNAKEMAKE_EXIT="7").returncode == 7
    assert len(tree.calls()) == 1


def test_failed_repetitions_are_said_in_one_sentence_and_by_the_exit_code(tree: Tree) -> None:
    done = tree.run(FAILED="2")
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1
    assert "2 repetitions failed" in done.stderr
    assert "./run retry-failed" in done.stderr
    assert "1 repetition failed" in tree.run(FAILED="1").stderr


def test_a_dry_run_says_nothing_about_earlier_failures(tree: Tree) -> None:
    assert tree.run("-n", FAILED="2").returncode == 0


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
    (tree.tools / "sleep").symlink_to(shutil.which("sleep"))
    running = subprocess.Popen(
        [tree.path / "run"], env=tree.variables() | {"HANG": "yes"}, start_new_session=True
    )
    note = tree.path / "pid"
    wait_until(lambda: note.exists() and note.read_text().endswith("\n"))
    snakemake = int(note.read_text())
    (os.killpg if to_group else os.kill)(running.pid, sent)
    assert running.wait(timeout=10) == exit_code
    wait_until(lambda: has_ended(snakemake))


def has_ended(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"  # whoever inherited it has not taken note yet


def wait_until(condition: Callable[[], bool], limit_s: float = 10.0) -> None:
    deadline_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def test_retry_forgets_the_failed_records_and_then_measures(tree: Tree) -> None:
    assert tree.run("retry-failed", "tables").returncode == 0
    assert tree.calls()[:2] == ["-m copycost.retry", "-m snakemake --cores 1 tables"]


def test_doctor_needs_no_environment_and_installs_nothing(tree: Tree) -> None:
    shutil.rmtree(tree.path / ".venv")
    (tree.tools / "cc").unlink()
    tree.add_tool("python3", PYTHON)
    tree.add_tool("apt-get", 'echo "apt-get $*" >>"$TREE/calls"; exit 1')
    assert tree.run("doctor", "--json").returncode == 0
    assert tree.calls()[-1] == "-m copycost.hostinfo.doctor --json"
    assert not [call for call in tree.calls() if "apt-get" in call]


def test_doctor_without_a_recent_python_says_so(tree: Tree) -> None:
    tree.add_tool("python3", "exit 1")  # what an older one answers when asked for its version
    done = tree.run("doctor")
    assert done.returncode == 1
    assert "no Python >= 3.11" in done.stderr


def test_help_names_every_subcommand(tree: Tree) -> None:
    shown = tree.run("help").stdout
    for subcommand in ("test", "doctor", "bench", "retry-failed", "lock", "help"):
        assert f"./run {subcommand}" in shown
    assert tree.calls() == []


def test_start_with_nothing_missing_installs_nothing(tree: Tree) -> None:
    tree.add_tool("apt-get", 'echo "apt-get $*" >>"$TREE/calls"; exit 1')
    tree.run()
    assert not [call for call in tree.calls() if "apt-get" in call]


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


@pytest.mark.parametrize(
    ("system", "known_package", "installed"),
    [
        ("ID=debian", "", "linux-perf"),
        ("ID=ubuntu\nID_LIKE=debian", "linux-tools-5.4.0-1-generic", "linux-tools-5.4.0-1-generic"),
        ("ID=ubuntu\nID_LIKE=debian", "", "linux-tools-generic"),
        ("ID=pop\nID_LIKE='ubuntu debian'", "", "linux-tools-generic"),
    ],
)
def test_perf_is_installed_under_the_name_of_the_distribution(
    tree: Tree, system: str, known_package: str, installed: str
) -> None:
    (tree.tools / "perf").unlink()
    tree.add_tool("apt-get", 'echo "apt-get $*" >>"$TREE/calls"')
    tree.add_tool("apt-cache", f'[[ $2 == "{known_package}" ]]')
    (tree.tools / "uname").unlink()
    tree.add_tool("uname", "echo 5.4.0-1-generic")
    release = tree.path / "os-release"
    release.write_text(system + "\n")
    alone = [shutil.which("unshare"), "--map-root-user", "--mount"]
    if None in alone or subprocess.run([*alone, "true"], check=False).returncode != 0:
        pytest.skip("this host allows no user namespace")
    # shown to this one process, in a mount namespace of its own
    inside = 'mount --bind "$TREE/os-release" /etc/os-release && exec "$TREE/run"'
    (tree.tools / "mount").symlink_to(shutil.which("mount"))
    done = tree.call([*alone, "bash", "-c", inside])
    assert done.returncode == 0, done.stderr
    assert [call for call in tree.calls() if call.endswith(f" -y {installed}")]


def test_what_cannot_be_installed_is_named_with_the_command_that_would(tree: Tree) -> None:
    (tree.tools / "cc").unlink()
    (tree.tools / "perf").unlink()
    tree.add_tool("apt-get", 'echo "apt-get $*" >>"$TREE/calls"; exit 1')
    tree.add_tool("sudo", "exit 1")  # it would ask for a password
    done = tree.call([*as_somebody(), str(tree.path / "run")])
    assert done.returncode == 1
    assert "sudo apt-get install gcc " in done.stderr
    assert "no C compiler" in done.stderr
    assert tree.calls() == []


def test_where_there_is_no_apt_the_packages_are_named_without_its_command(tree: Tree) -> None:
    (tree.tools / "cc").unlink()
    done = tree.run()
    assert done.returncode == 1
    assert "missing here: gcc, as Debian calls these packages" in done.stderr
    assert "apt-get" not in done.stderr


def test_missing_perf_costs_counters_but_not_the_run(tree: Tree) -> None:
    tree.add_tool("perf", 'echo "perf not found for kernel" >&2; exit 2')
    done = tree.run()
    assert done.returncode == 0
    assert "no counters" in done.stderr
    assert tree.calls()[0].startswith("-m snakemake")


def system_python(tree: Tree) -> None:
    """Put the interpreter under the tests' own environment on the PATH, as the system's."""
    tree.add_tool("python3", f'exec "{Path(sys.executable).resolve()}" "$@"')


@pytest.mark.parametrize("damage", ["no stamp", "lock changed", "tree moved", "no python"])
def test_environment_that_is_not_whole_is_made_anew(tree: Tree, damage: str) -> None:
    tree.add_tool(
        "python3",
        f"""\
        if [[ $2 == venv ]]; then
            {shutil.which("mkdir")} -p "$3/bin"
            {shutil.which("cp")} "$TOOLS/note" "$3/bin/python"
        fi
        """,
    )
    shutil.copy(tree.path / ".venv/bin/python", tree.tools / "note")
    if damage == "no stamp":
        (tree.path / ".venv/requirements.stamp").unlink()
    elif damage == "lock changed":
        (tree.path / "envs/requirements.txt").write_text("# another\n")
    elif damage == "tree moved":
        tree.path = tree.path.rename(tree.path.with_name("elsewhere"))
    else:
        (tree.path / ".venv/bin/python").unlink()
    leftover = tree.path / ".venv/leftover"
    leftover.touch()

    done = tree.run()

    assert done.returncode == 0
    assert "making the Python environment" in done.stderr
    assert not leftover.exists()
    install, measure = tree.calls()[:2]
    assert install.startswith("-m pip install")
    assert "--no-deps --require-hashes --requirement envs/requirements.txt" in install
    assert measure.startswith("-m snakemake")
    assert "making" not in tree.run().stderr


@pytest.mark.slow
def test_real_environment_is_made_once(tree: Tree) -> None:
    system_python(tree)
    (tree.path / ".venv/requirements.stamp").unlink()
    assert "making the Python environment" in tree.run("bench").stderr
    assert (tree.path / ".venv/bin/pip").exists()
    assert "making the Python environment" not in tree.run("bench").stderr


@pytest.mark.slow
def test_environment_whose_packages_fail_leaves_no_stamp(tree: Tree) -> None:
    system_python(tree)
    lock = tree.path / "envs/requirements.txt"
    lock.write_text("./nothing-here.whl --hash=sha256:" + "0" * 64 + "\n")
    done = tree.run()
    assert done.returncode == 1
    assert "pip's message is above" in done.stderr
    assert not (tree.path / ".venv/requirements.stamp").exists()
