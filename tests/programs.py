"""Programs that stand for others, and waiting for processes."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def add_program(path: Path, text: str) -> Path:
    """Write a program, its interpreter's line included, in a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def until(
    condition: Callable[[], bool], limit_s: float = 60.0, failure: Callable[[], str] = str
) -> None:
    """Look again and again until something holds, which may take so long."""
    deadline_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline_s, failure()
        time.sleep(0.005)


def alive(pid: int) -> bool:
    """Return whether a process exists and is no zombie."""
    with suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        return stat.rpartition(b")")[2].split()[0] != b"Z"
    return False
