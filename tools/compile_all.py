"""Compiles all C programs with warnings as errors: ``python -m tools.compile_all``."""

import argparse
import os
import sys
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
    n_cpus = len(os.sched_getaffinity(0))
    with TemporaryDirectory() as folder, ThreadPoolExecutor(n_cpus) as pool:
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="cc", help="a command that takes gcc's flags")
    try:
        compile_all(parser.parse_args().compiler, Path(__file__).parents[1])
    except (ConfigError, HostError) as error:
        sys.exit(str(error))
