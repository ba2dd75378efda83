"""How ``./run`` starts programs and what it says; the Python environment in `.venv`.

That is whole when it bears a stamp with the digest of its lock, the interpreter it was made for and
the folder it stands in (its scripts hold absolute paths). The stamp is written last, so that a
half-made environment has none and is made anew.
"""

import fcntl
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from copycost.errors import CopycostError
from copycost.snakefile import interruption

FOLDER = Path(".venv")
PYTHON = FOLDER / "bin/python"
LAUNCH = "workflow/copycost/cli/launch.py"
RUN, TESTS, SLURM, MEASURE = (f"requirements{part}" for part in ("", "-dev", "-slurm", "-measure"))
_CANDIDATES = ("python3", "python3.14", "python3.13", "python3.12", "python3.11")
_IS_FIT = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"

INTERRUPTED = interruption.LINE.replace("copycost:", "run:")
EXIT_FAILED_REPETITIONS = 3
LOG = Path("results/logs/setup.log")


class RunError(CopycostError):
    """What ends ``./run``, in a sentence."""


def say(sentence: str) -> None:
    """Print a sentence to stderr."""
    print(f"run: {sentence}", file=sys.stderr, flush=True)


def in_log(what: str, command: Sequence[str]) -> bool:
    """Run a command whose words go to the log; tell whether it worked."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    print(f"run: {what} ... ", end="", file=sys.stderr, flush=True)
    interruption.end_quietly(line=f"\n{INTERRUPTED}")
    with LOG.open("a", encoding="utf-8") as log:
        print(f"$ {shlex.join(command)}", file=log, flush=True)
        # Ctrl-C reaches it as well, and its end is waited for
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as running:
            worked = running.wait() == 0
    interruption.end_quietly(line=INTERRUPTED)
    print("done" if worked else "failed", file=sys.stderr, flush=True)
    return worked


def works(*command: str) -> bool:
    """Tell whether a command can be run, and ends well."""
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def command_of(module: str, *words: str) -> list[str]:
    """Return the command that runs a module so that Ctrl-C shows no traceback."""
    return [str(PYTHON.absolute()), "-SP", LAUNCH, module, *words]


def run(command: Sequence[str], *, stdout: int | None = None) -> "subprocess.CompletedProcess[str]":
    """Run a command of `command_of` to its end, with Ctrl-C held back until it can take it."""
    # Python would show a traceback of one that comes before the first line of the launcher, which
    # lets it through
    with interruption.held_back():
        running = subprocess.Popen(command, stdout=stdout, text=True)
    with running:
        said, _ = running.communicate()
        return subprocess.CompletedProcess(command, running.returncode, said)


def has_python() -> bool:
    """Tell whether the environment has an interpreter."""
    return os.access(PYTHON, os.X_OK)


def is_whole(lock: str) -> bool:
    """Tell whether the environment has all of a lock."""
    stamp = FOLDER / f"{lock}.stamp"
    return has_python() and stamp.is_file() and stamp.read_text(encoding="utf-8") == _stamp_of(lock)


def needed_here() -> str:
    """Return the lock of a run: of a host that only measures, nothing that draws or typesets."""
    return RUN if is_whole(RUN) else os.environ.get("COPYCOST_PACKAGES", RUN)


def _stamp_of(lock: str) -> str:
    digest = hashlib.sha256(Path(f"envs/{lock}.txt").read_bytes()).hexdigest()
    return f"{digest}  - {PYTHON.resolve()} {Path.cwd()}\n"


def find_python() -> str | None:
    """Return a Python of the system that can make an environment."""
    places = os.environ["PATH"].split(os.pathsep)
    system = os.pathsep.join(one for one in places if Path(one) != PYTHON.parent.absolute())
    found = (shutil.which(name, path=system) for name in _CANDIDATES)
    return next((python for python in found if python and works(python, "-c", _IS_FIT)), None)


def require(lock: str) -> None:
    """Refuse to go on without the environment."""
    if not is_whole(lock):
        raise RunError(
            "the Python environment is missing, or made for another folder or other packages; "
            "./run setup makes it"
        )


def make(lock: str) -> None:
    """Make the environment, or add a lock to it, unless it is whole."""
    if is_whole(lock):
        return
    with Path(".venv.lock").open("w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # another ./run in this folder may be making the same
        if is_whole(lock):
            return
        adds = lock != RUN and is_whole(RUN) and not (FOLDER / f"{lock}.stamp").is_file()
        if not adds and lock != SLURM:
            _make_anew()
        if not _install(f"envs/{lock}.txt"):
            last = LOG.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
            raise RunError(
                f"the Python environment could not be made; pip's words are in {LOG}, "
                f"the last are: {last}"
            )
        for whole in (RUN, lock) if lock == TESTS else (lock,):  # the tests' holds that of a run
            (FOLDER / f"{whole}.stamp").write_text(_stamp_of(whole), encoding="utf-8")


def _install(packages: str) -> bool:
    """Install a list of packages by uv, or where that fails by pip; tell whether it worked.

    uv takes a third of the time; but only pip heeds pip's settings, such as a mirror.
    """
    python, what = str(PYTHON), f"making the Python environment in .venv from {packages}"
    exactly = ["--no-deps", "--require-hashes", "--requirement"]
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off",
           *exactly]  # fmt: skip
    # compiled now: where PYTHONDONTWRITEBYTECODE is set, each process would do it for itself
    uv = [python, "-m", "uv", "pip", "install", "--python", python, "--compile-bytecode", *exactly]
    return (
        in_log("installing uv in .venv", [*pip, "envs/uv.txt"])
        and in_log(f"{what} (once)", [*uv, packages])
    ) or in_log(f"{what} by pip (a minute or two, once)", [*pip, packages])


def _make_anew() -> None:
    python = find_python()
    if python is None:
        raise RunError("no Python >= 3.11 with venv; to install: sudo apt-get install python3-venv")
    subprocess.run(["rm", "-rf", str(FOLDER)], check=True)  # which may be a link
    subprocess.run([python, "-m", "venv", str(FOLDER)], check=True)


def is_running() -> bool:
    """Tell whether this process is run by the environment's interpreter."""
    return Path(sys.executable) == PYTHON.absolute()
