"""The C programs, built for the tests that ask for them, once per session."""

import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from copycost.toolchain import (
    LIBRARIES,
    Program,
    Sanitizer,
    compile_flags,
    libraries,
    translation_units,
)

ROOT = Path(__file__).parents[2]
STRATEGIES = ("two_copy", "one_copy", "zero_copy")


@dataclass(slots=True)
class Build:
    """Programs compiled alike, each when it is first asked for.

    Every C file is compiled once and linked into each program that it is a part of, which takes a
    fraction of the time that `compile_program` would take for a dozen senders.
    """

    folder: Path
    sanitize: Sanitizer | None
    units: dict[Path, Path] = field(default_factory=dict)  # object by C file

    @property
    def receiver(self) -> Path:
        """The receiver that all tests use that are not about receivers."""
        return self.program("receiver", "recv")

    def sender(self, strategy: str) -> Path:
        """Return the sender with a strategy."""
        return self.program("sender", strategy)

    def program(self, program: Program, part: str | None) -> Path:
        """Return a program, compiled with warnings as errors."""
        output = self.folder / (f"{program}_{part}" if part else program)
        if not output.exists():
            units = translation_units(program, part, ROOT)
            missing = [unit for unit in units if unit not in self.units]
            with ThreadPoolExecutor(max_workers=2) as pool:
                self.units.update(zip(missing, pool.map(self._compile, missing), strict=True))
            flags = compile_flags(sanitize=self.sanitize)
            objects = [str(self.units[unit]) for unit in units]
            linked = libraries(program, part, ROOT)
            subprocess.run(["cc", *flags, *objects, "-o", output, *linked], check=True)
        return output

    def _compile(self, unit: Path) -> Path:
        made = self.folder / f"{unit.parent.name}_{unit.stem}.o"
        flags = compile_flags(sanitize=self.sanitize, werror=True)
        subprocess.run(["cc", *flags, f"-I{ROOT / 'src'}", "-c", unit, "-o", made], check=True)
        return made


@pytest.fixture(scope="session")
def address_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """With AddressSanitizer and UndefinedBehaviorSanitizer."""
    return Build(tmp_path_factory.mktemp("address"), "address")


@pytest.fixture(scope="session")
def thread_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """With ThreadSanitizer."""
    return Build(tmp_path_factory.mktemp("thread"), "thread")


@pytest.fixture(scope="session")
def plain_build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """As measured."""
    return Build(tmp_path_factory.mktemp("plain"), None)


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
