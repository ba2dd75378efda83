"""The lock against overlapping measurements."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from unit.hosts.places import running

from copycost.errors import MeasurementStopped
from copycost.hosts.lock import measurement_lock

ROOT = Path(__file__).parents[3]
# holds the lock until its stdin ends
HOLDER = """
import sys
from pathlib import Path
from copycost.hosts.lock import measurement_lock
with measurement_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def hold(*paths: Path, program: str = HOLDER) -> Iterator[subprocess.Popen[str]]:
    """Run a program that says when it holds the first of the paths."""
    holder = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, paths)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "workflow")},
    )
    with holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            yield holder
        finally:
            holder.kill()


def is_held(path: Path) -> bool:
    attempt = ["flock", "--nonblock", str(path), "true"]
    return subprocess.run(attempt, check=False).returncode == 1


def test_everybody_may_open_the_lock_file(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        with measurement_lock(tmp_path / "lock") as lock:
            assert lock.wait_s == 0
            assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o444
    finally:
        os.umask(before)


def test_the_second_says_that_it_waits_and_for_whom(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        running("true") as workflow,  # which is gone, so that the wait ends at once
        hold(tmp_path / "lock") as holder,
        pytest.raises(MeasurementStopped, match="while it waited for its turn"),
        measurement_lock(tmp_path / "lock", [workflow.ended_fd]),
    ):
        pytest.fail("the lock was held by another")
    assert f"process {holder.pid} holds {tmp_path / 'lock'}): waiting" in capsys.readouterr().err


def test_who_waits_has_the_lock_as_soon_as_it_is_free(tmp_path: Path) -> None:
    # takes it again and again, with a pause that is shorter than any looking now and then
    greedy = HOLDER.replace(
        "    sys.stdin.read()",
        "    time.sleep(0.02)\nwhile True:\n    time.sleep(0.001)\n"
        "    with measurement_lock(Path(sys.argv[1])):\n        time.sleep(0.02)",
    ).replace("import sys\n", "import sys, time\n", 1)
    with hold(tmp_path / "lock", program=greedy) as holder:
        for _ in range(5):
            with measurement_lock(tmp_path / "lock") as lock:
                assert lock.wait_s < 5
            assert holder.poll() is None
