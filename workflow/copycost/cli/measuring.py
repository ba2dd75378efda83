"""A run of the workflow: what it needs is set up, Snakemake is started, failures are counted."""

import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from copycost.cli import apt_packages, environment
from copycost.cli.command_line import Request, parse
from copycost.cli.environment import EXIT_FAILED_REPETITIONS, INTERRUPTED, RunError, command_of
from copycost.records.disk import AGAIN, is_full, room_comes
from copycost.records.files import ASIDE
from copycost.snakefile import interruption

_MOST_STARTS = 4
_IN_GUESTS = re.compile(r"^[^#\n]*\bvm_(loopback|pair|host)", re.MULTILINE)
_SIMULATES = re.compile(r"^simulated:\n(?:(?:[ #].*)?\n)*?  enabled: *([a-z]+)", re.MULTILINE)


def set_up() -> None:
    """Set up what a run needs."""
    require_own_folder()
    apt_packages.set_up_run()
    environment.make(environment.needed_here())


def measure(words: Sequence[str]) -> int:
    """Run the workflow with these targets and options; return the exit code."""
    request = parse(words)
    require_own_folder()
    _require_disk()
    if request.dry_run:
        environment.require(environment.needed_here())
        apt_packages.find_perf()
    else:
        set_up()
        if _asks_for_guests(words, request.config_files):
            apt_packages.set_up_guests()
    if request.config_files:  # of one that is no YAML Snakemake names neither file nor line
        checks = command_of("copycost.config.sources", *request.config_files)
        if (status := environment.run(checks).returncode) != 0:
            return status
    if request.retries:
        only = ["--list"] if request.dry_run else []
        environment.run(command_of("copycost.snakefile.retry", *only)).check_returncode()
    n_aside = _count_aside()
    status = _snakemake_with_room(request)
    if status in (1, EXIT_FAILED_REPETITIONS) and _count_aside() > n_aside:
        status = _snakemake_with_room(request)
    return status


def _count_aside() -> int:
    """Return how many files were set aside so far: a start makes again what the last one set aside.

    That is records that were damaged after they were measured, and what a step could not read.
    """
    notes = Path(ASIDE)
    return notes.read_bytes().count(b"\n") if notes.is_file() else 0


def _snakemake_with_room(request: Request) -> int:
    """Run Snakemake, again where it met a full disk itself and there is room; the exit code."""
    for _ in range(_MOST_STARTS):
        if (status := _snakemake(request)) != AGAIN or not room_comes(lacked=True):
            break
    if status != AGAIN:
        return status
    _require_disk()  # the last word of a run without room is what to do about it
    return 1


def _snakemake(request: Request) -> int:
    """Run Snakemake, which gets Ctrl-C as well, says so and cleans up; return the exit code."""
    interrupted: list[object] = []
    before = signal.signal(signal.SIGINT, lambda *about: interrupted.append(about))
    # killing this process must not leave a run behind that nobody sees
    asked = command_of("snakemake", *request.for_snakemake())
    attached = ["setpriv", "--pdeathsig", "TERM", *asked]
    status = environment.run(attached).returncode
    signal.signal(signal.SIGINT, before)
    if interrupted:
        if status != interruption.SAID:
            print(INTERRUPTED, end="", file=sys.stderr)
        return interruption.EXIT_CODE
    if status not in (0, AGAIN):
        _require_disk()  # of a full disk Snakemake shows tracebacks
    return status if status >= 0 else 128 - status


def _asks_for_guests(words: Sequence[str], files: Sequence[str]) -> bool:
    """Tell whether testbeds in virtual machines are listed, or simulated counts asked for.

    `auto` takes what is there.
    """
    paths = [Path(name) for name in ("config.yaml", *files) if Path(name).is_file()]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
    said = [word for text in texts for word in _SIMULATES.findall(text)]
    return (
        "simulated" in words
        or any("vm_" in word for word in words)
        or any(map(_IN_GUESTS.search, texts))
        or said[-1:] == ["true"]
    )


def require_own_folder() -> None:
    """Refuse a folder that another user's run has taken: Snakemake would show a traceback."""
    here = Path.cwd()
    for folder in (here, here / ".snakemake", here / "results"):
        if not folder.exists() or os.access(folder, os.W_OK):
            continue
        if os.geteuid() in (0, folder.stat().st_uid):
            raise RunError(
                f"{folder} is read-only; make it writable, or use a clone in a folder that is"
            )
        raise RunError(
            f"{folder} belongs to another user, uid {folder.stat().st_uid}, so nothing can be "
            f"written there; run as that user, or: sudo chown -R $(id -un) {here}"
        )


def _require_disk() -> None:
    if is_full(Path()):
        raise RunError(
            f"the disk that holds {Path.cwd()} is full; free some of it, then run again: what was "
            "measured stays"
        )
