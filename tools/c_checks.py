"""The checks of the C programs that ``./run test`` asks for.

``python -m tools.c_checks compile --compiler clang`` compiles all of them with warnings
as errors; ``python -m tools.c_checks tidy`` runs clang-tidy over them.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from copycost.build.toolchain import (
    INCLUDE_FLAGS,
    SHARED_FLAGS,
    SHARED_OBJECTS,
    all_programs,
    compile_flags,
    libraries,
    run_compiler,
    translation_units,
)
from copycost.errors import ConfigError, HostError


def compile_all(compiler: str, root: Path) -> None:
    """Compile and link all programs with warnings as errors, and keep none.

    Each C file is compiled once and linked into every program that it is a part of: most of them
    are parts of all. The compiler is a command that takes gcc's flags.

    Raises HostError if there is no such compiler, or with what it says if it refuses the sources.
    """
    programs = [(*each, translation_units(*each, root)) for each in all_programs(root)]
    units = sorted({unit for *_, needed in programs for unit in needed})
    # what is part of a shared object must lie anywhere, and the rest may
    start = [compiler, *compile_flags(werror=True), "-fPIC", *INCLUDE_FLAGS]
    with TemporaryDirectory() as folder, ThreadPoolExecutor(_n_cpus()) as pool:
        objects = {unit: str(Path(folder, f"{number}.o")) for number, unit in enumerate(units)}

        def compile_unit(unit: Path) -> None:
            name = str(unit.relative_to(root))
            run_compiler([*start, "-c", name, "-o", objects[unit]], name, root)

        def link(number: int) -> None:
            program, part, needed = programs[number]
            made = [*(objects[unit] for unit in needed), "-o", str(Path(folder, str(number)))]
            linked = libraries(program, part, root, compiler=compiler)
            name = f"{program} {part}" if part else program
            shared = SHARED_FLAGS if program in SHARED_OBJECTS else ()
            run_compiler([*start, *shared, *made, *linked], name, root)

        list(pool.map(compile_unit, units))
        list(pool.map(link, range(len(programs))))


def tidy(root: Path) -> bool:
    """Run clang-tidy over all C files with the flags of a build; return whether it is content.

    Raises HostError if there is no clang-tidy.
    """
    files = sorted(str(path.relative_to(root)) for path in (root / "src").rglob("*.c"))
    n_shares = min(_n_cpus(), len(files))

    def look_at(share: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        command = ["clang-tidy", "--quiet", *share, "--", *compile_flags(), *INCLUDE_FLAGS]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)

    with ThreadPoolExecutor(n_shares) as pool:
        try:
            found = list(pool.map(look_at, (files[n::n_shares] for n in range(n_shares))))
        except FileNotFoundError:
            raise HostError(
                "clang-tidy: not found; it is in the environment of envs/requirements-dev.txt"
            ) from None
    for done in found:
        print(f"{done.stdout}{done.stderr}".rstrip())
    return not any(done.returncode for done in found)


def _n_cpus() -> int:
    return len(os.sched_getaffinity(0))


def main(arguments: Sequence[str]) -> int:
    """Run one of the checks and return the exit code."""
    parser = argparse.ArgumentParser(prog="tools.c_checks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("compile", help="compile everything with warnings as errors")
    check.add_argument("--compiler", default="cc", help="a command that takes gcc's flags")
    commands.add_parser("tidy", help="run clang-tidy")
    chosen = parser.parse_args(arguments)
    root = Path(__file__).parents[1]
    try:
        if chosen.command == "tidy":
            return 0 if tidy(root) else 1
        compile_all(chosen.compiler, root)
    except (ConfigError, HostError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
