"""The C programs, built for the tests that ask for them, once per session."""

import fcntl
import os
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from copycost.build.toolchain import (
    INCLUDE_FLAGS,
    Program,
    Sanitizer,
    compile_flags,
    libraries,
    translation_units,
)

ROOT = Path(__file__).parents[2]
STRATEGIES = ("two_copy", "one_copy", "zero_copy")


@dataclass(frozen=True, slots=True)
class Build:
    """Programs compiled alike, each when it is first asked for.

    Every C file is compiled once and linked into each program that it is a part of, which takes a
    fraction of the time that `compile_program` would take for a dozen senders. Processes of
    pytest-xdist share the folder.
    """

    folder: Path
    sanitize: Sanitizer | None

    @property
    def receiver(self) -> Path:
        """The receiver that all tests use that are not about receivers."""
        return self.program("receiver", "recv")

    @property
    def flags(self) -> list[str]:
        """What all C files are compiled with. Sanitizers find the same in half optimised code."""
        optimise = ["-O1"] if self.sanitize else []
        return [*compile_flags(sanitize=self.sanitize, werror=True), *optimise, *INCLUDE_FLAGS]

    def sender(self, strategy: str) -> Path:
        """Return the sender with a strategy."""
        return self.program("sender", strategy)

    def program(self, program: Program, part: str | None) -> Path:
        """Return a program, compiled with warnings as errors."""
        output = self.folder / (f"{program}_{part}" if part else program)
        with self._lock():
            if not output.exists():
                objects = self._compile(translation_units(program, part, ROOT))
                self.link(objects, output, libraries(program, part, ROOT))
        return output

    def usable(self, program: Program, part: str) -> Path:
        """Return a program, or skip where this host cannot use it, with what it says."""
        made = self.program(program, part)
        probe = subprocess.run([made, "--probe"], capture_output=True, text=True, check=False)
        if probe.returncode == 77:
            pytest.skip(probe.stderr.strip())
        assert probe.returncode == 0, probe.stderr
        return made

    def pair(self, strategy: str) -> tuple[Path, Path]:
        """Return a sender that this host can use, or skip, and the receiver of most tests."""
        return self.usable("sender", strategy), self.receiver

    def check_program(self, name: str, sources: Sequence[str], folder: Path) -> Path:
        """Return the program of a C file of this folder that is linked with some of src."""
        program, made = folder / name, folder / f"{name}.o"
        self.compile(["-c", ROOT / f"tests/c/{name}.c", "-o", made])
        objects = self.objects([ROOT / f"src/{source}.c" for source in sources])
        self.link([made, *objects], program, libraries("sender", "uring_send", ROOT))
        return program

    def objects(self, units: Sequence[Path]) -> list[Path]:
        """Return what C files of src are compiled to."""
        with self._lock():
            return self._compile(units)

    def compile(self, arguments: Sequence[str | Path]) -> None:
        """Run the compiler with this build's flags."""
        subprocess.run(["cc", *self.flags, *arguments], cwd=ROOT, check=True)

    def link(self, objects: Sequence[Path], output: Path, libraries: Sequence[str]) -> None:
        """Link a program."""
        self.compile([*objects, "-o", output, *libraries])

    def _compile(self, units: Sequence[Path]) -> list[Path]:
        made = [self.folder / f"{unit.parent.name}_{unit.stem}.o" for unit in units]
        missing = [pair for pair in zip(units, made, strict=True) if not pair[1].exists()]
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            list(pool.map(self._compile_unit, missing))
        return made

    def _compile_unit(self, pair: tuple[Path, Path]) -> None:
        unit, made = pair
        self.compile(["-c", unit, "-o", made])

    @contextmanager
    def _lock(self) -> Iterator[None]:
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def make_build(
    factory: pytest.TempPathFactory, name: str, sanitize: Sanitizer | None = None
) -> Build:
    """Return a build in the folder that all processes of this test session share."""
    own = factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / f"build_{name}"
    folder.mkdir(exist_ok=True)
    return Build(folder, sanitize)


@pytest.fixture(scope="session")
def address_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """With AddressSanitizer and UndefinedBehaviorSanitizer."""
    return make_build(tmp_path_factory, "address", "address")


@pytest.fixture(scope="session")
def thread_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """With ThreadSanitizer."""
    return make_build(tmp_path_factory, "thread", "thread")


@pytest.fixture(scope="session")
def plain_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """As measured."""
    return make_build(tmp_path_factory, "plain")


@pytest.fixture(params=STRATEGIES)
def strategy(request: pytest.FixtureRequest) -> str:
    """Each way to send, one after the other."""
    return str(request.param)
