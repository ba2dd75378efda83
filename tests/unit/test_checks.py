"""What `./run test` runs beside what, and that no failure is lost on the way."""

import shutil
import subprocess
from pathlib import Path

import pytest
from programs import add_program

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
    (tmp_path / "tests").mkdir()
    shutil.copy2(SCRIPT, tmp_path / "tests/checks.sh")
    for name in ("mypy", "snakefmt", "clang-format", "clang-tidy", "shellcheck"):
        add_program(tools / name, "#!/bin/bash\n")
    add_program(tools / "ruff", "#!/bin/bash\nsleep 0.1\ntouch ruff_over\n")
    add_program(tools / "python", PYTHON)
    return tmp_path


def run_checks(tree: Path, *names: str) -> tuple[int, str, dict[str, str]]:
    """Return its exit status, what it printed, and the verdict of each check."""
    words = [tree / "tests/checks.sh", *names]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    lines = done.stdout.partition("== summary\n")[2].splitlines()
    return done.returncode, done.stdout, {line.split()[0]: line.split()[1] for line in lines}


@pytest.mark.parametrize(
    "names", [(), ("workflow", "ruff", "unit", "slurm", "measured", "alone")], ids=["all", "some"]
)
def test_checks_that_wait_run_beside_others_and_those_of_figures_alone(
    tree: Path, names: tuple[str, ...]
) -> None:
    if names:  # asked for first, the workflow waits for what is beside the unit tests
        (tree / "unit_began").touch()
    code, said, verdicts = run_checks(tree, *names)
    assert code == 0, said
    assert set(verdicts.values()) == {"ok"}
    assert {"unit", "slurm", "measured", "ruff"} <= verdicts.keys()


@pytest.mark.parametrize(("failing", "failed"), [("mypy", {"mypy"}), ("python", {"unit", "slurm"})])
def test_a_failure_beside_others_is_told_and_fails_all(
    tree: Path, failing: str, failed: set[str]
) -> None:
    add_program(tree / ".venv/bin" / failing, "#!/bin/bash\necho this is wrong\nexit 1\n")
    code, said, verdicts = run_checks(tree, "ruff", "mypy", "unit", "snakefmt", "slurm")
    assert code == 1
    assert {name for name, verdict in verdicts.items() if verdict == "FAILED"} == failed
    assert list(verdicts) == ["ruff", "mypy", "unit", "snakefmt", "slurm"]
    assert all(f"== {name}\nthis is wrong\n" in said for name in failed)
