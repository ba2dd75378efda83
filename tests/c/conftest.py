"""The C programs, built for the tests that ask for them, once per session."""

import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from copycost.toolchain import LIBRARIES, Sanitizer, compile_flags, compile_program

ROOT = Path(__file__).parents[2]
STRATEGIES = ("two_copy", "one_copy", "zero_copy")


@dataclass(frozen=True, slots=True)
class Build:
    """A folder of programs that were compiled alike."""

    folder: Path

    @property
    def receiver(self) -> Path:
        return self.folder / "receiver"

    def sender(self, strategy: str) -> Path:
        return self.folder / f"sender_{strategy}"


def build(folder: Path, sanitize: Sanitizer | None, strategies: Sequence[str]) -> Build:
    """Compile the receiver and senders, two at a time."""
    made = Build(folder)
    how = partial(compile_program, root=ROOT, sanitize=sanitize, werror=True)
    with ThreadPoolExecutor(max_workers=2) as pool:
        jobs = [pool.submit(how, "receiver", None, made.receiver)]
        jobs += [pool.submit(how, "sender", name, made.sender(name)) for name in strategies]
    for job in jobs:
        job.result()
    return made


@pytest.fixture(scope="session")
def address_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """With AddressSanitizer and UndefinedBehaviorSanitizer."""
    return build(tmp_path_factory.mktemp("address"), "address", (*STRATEGIES, "null"))


@pytest.fixture(scope="session")
def thread_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """With ThreadSanitizer."""
    return build(tmp_path_factory.mktemp("thread"), "thread", STRATEGIES)


@pytest.fixture(scope="session")
def plain_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """As measured."""
    return build(tmp_path_factory.mktemp("plain"), None, STRATEGIES)


@pytest.fixture(params=STRATEGIES)
def strategy(request: pytest.FixtureRequest) -> str:
    """Each way to send, one after the other."""
    return str(request.param)


@pytest.fixture(scope="session")
def run_c_test(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, list[str]], str]:
    """Return a function that compiles and runs a C file of this folder and returns its output."""
    folder = tmp_path_factory.mktemp("c")

    def run(name: str, sources: list[str]) -> str:
        program = folder / name
        source = ROOT / "tests" / "c" / f"{name}.c"
        units = [source, *(ROOT / "src" / path for path in sources)]
        flags = compile_flags(sanitize="address", werror=True)
        command = ["cc", *flags, f"-I{ROOT / 'src'}", *map(str, units), "-o", str(program)]
        subprocess.run([*command, *LIBRARIES], check=True)
        done = subprocess.run([program], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
