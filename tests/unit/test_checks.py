"""What `./run test` runs beside what, and that no failure is lost on the way."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "checks.sh"

# Stands for Python: the cluster ends a while after the unit tests have begun, and not before; the
# workflow ends after other measurements have begun, and those of figures find both over.
PYTHON = """\
#!/bin/bash
case $* in
*tests/unit*) touch unit_began ;;
*tests/slurm*)
    until [[ -e unit_began ]]; do sleep 0.01; done
    sleep 0.3
    touch slurm_over
    echo 1 passed
    ;;
*tests/workflow*)
    [[ -e slurm_over && -e ruff_over ]] || exit
    until [[ -e measured_began ]]; do sleep 0.01; done
    sleep 0.3
    touch workflow_over
    ;;
*tests/measured*"not alone") touch measured_began ;;
*tests/measured*) [[ -e slurm_over && -e workflow_over ]] ;;
esac
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout with the checks, and with tools that do nothing."""
    tools = tmp_path / ".venv/bin"
    tools.mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    shutil.copy2(SCRIPT, tmp_path / "tests/checks.sh")
    for name in ("mypy", "snakefmt", "clang-format", "clang-tidy", "shellcheck"):
        add_tool(tmp_path, name, "#!/bin/bash\n")
    add_tool(tmp_path, "ruff", "#!/bin/bash\nsleep 0.1\ntouch ruff_over\n")
    add_tool(tmp_path, "python", PYTHON)
    return tmp_path


def add_tool(tree: Path, name: str, script: str) -> None:
    tool = tree / ".venv/bin" / name
    tool.write_text(script)
    tool.chmod(0o755)


def run_checks(tree: Path, *names: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [tree / "tests/checks.sh", *names],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def summary(said: str) -> dict[str, str]:
    """Return the verdict of each check."""
    lines = said.partition("== summary\n")[2].splitlines()
    return {name: verdict for name, verdict, *_ in map(str.split, lines)}


@pytest.mark.parametrize(
    "names", [(), ("workflow", "ruff", "unit", "slurm", "measured", "alone")], ids=["all", "some"]
)
def test_checks_that_wait_run_beside_others_and_those_of_figures_alone(
    tree: Path, names: tuple[str, ...]
) -> None:
    if names:  # asked for first, the workflow waits for what is beside the unit tests
        (tree / "unit_began").touch()
    done = run_checks(tree, *names)
    assert done.returncode == 0, done.stdout
    assert set(summary(done.stdout).values()) == {"ok"}
    assert {"unit", "slurm", "measured", "ruff"} <= summary(done.stdout).keys()


@pytest.mark.parametrize("failing", ["mypy", "python"])
def test_a_failure_beside_others_is_told_and_fails_all(tree: Path, failing: str) -> None:
    add_tool(tree, failing, "#!/bin/bash\necho this is wrong\nexit 1\n")
    done = run_checks(tree, "ruff", "mypy", "unit", "snakefmt", "slurm")
    assert done.returncode == 1
    failed = {"mypy"} if failing == "mypy" else {"unit", "slurm"}
    verdicts = summary(done.stdout)
    assert {name for name, verdict in verdicts.items() if verdict == "FAILED"} == failed
    assert list(verdicts) == ["ruff", "mypy", "unit", "snakefmt", "slurm"]
    for name in failed:
        assert f"== {name}\nthis is wrong\n" in done.stdout
