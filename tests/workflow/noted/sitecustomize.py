"""Python runs this before a script, and so has it note what it opens of the checkout it runs in."""

import atexit
import json
import os
import sys
import time
from pathlib import Path

HERE = f"{Path.cwd()}/"
opened: set[str] = set()


def note(event: str, args: tuple[object, ...]) -> None:
    """Take note of a file that is opened."""
    if event == "open" and isinstance(args[0], str):
        path = os.path.abspath(args[0])  # noqa: PTH100 - pathlib may not be imported by then
        if path.startswith(HERE):
            opened.add(path.removeprefix(HERE))


def tell() -> None:
    """Write it down, for no other process to write over."""
    folder = Path(os.environ["NOTES"])
    folder.mkdir(exist_ok=True)
    told = {"program": sys.argv[0], "opened": sorted(opened)}
    (folder / f"{os.getpid()}-{time.time_ns()}.json").write_text(json.dumps(told))


def forget_code() -> None:
    """Forget that of other scripts, in a fork of the process that all are forked from."""
    opened.difference_update([name for name in opened if name.startswith("workflow/")])


os.register_at_fork(after_in_child=forget_code)
sys.addaudithook(note)
atexit.register(tell)
