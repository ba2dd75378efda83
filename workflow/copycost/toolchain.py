"""Compile the C programs: the one place for their sources and flags.

``python -m copycost.toolchain check --compiler clang`` compiles all of them with warnings as
errors; ``python -m copycost.toolchain tidy`` runs clang-tidy over them.
"""

import argparse
import hashlib
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from copycost.errors import ConfigError, HostError

Program = Literal["sender", "receiver"]
Sanitizer = Literal["address", "thread"]

#: What both programs are made of, besides their own main file and a sender's strategy.
SHARED = (
    "clock.c",
    "control.c",
    "die.c",
    "greeting.c",
    "message.c",
    "net.c",
    "options.c",
    "output.c",
    "pattern.c",
    "perf_control.c",
    "report.c",
    "session.c",
    "stats.c",
    "threads.c",
    "window.c",
)

LANGUAGE_FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-pthread")
WARNING_FLAGS = (
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wconversion",
    "-Wstrict-prototypes",
    "-Wmissing-prototypes",
)
#: -g costs nothing at run time and gives profiles their names.
OPTIMISE_FLAGS = ("-O2", "-g")
LIBRARIES = ("-lm",)

#: Sanitizer builds are for tests; nothing is ever measured with them.
SANITIZER_FLAGS: dict[Sanitizer, tuple[str, ...]] = {
    "address": (
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-fno-omit-frame-pointer",
    ),
    "thread": ("-fsanitize=thread", "-fno-omit-frame-pointer"),
}

_OWN_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def strategies(root: Path) -> list[str]:
    """Return the names of all strategies, which are the names of their files, sorted."""
    return sorted(path.stem for path in (root / "src" / "strategies").glob("*.c"))


def translation_units(program: Program, strategy: str | None, root: Path) -> list[Path]:
    """Return the C files that a program is compiled from, its own first.

    Parameters
    ----------
    program
        ``sender`` or ``receiver``.
    strategy
        A sender's way to send; ``None`` for the receiver.
    root
        The project's folder.

    Raises
    ------
    ConfigError
        If the strategy has no source file, or the wrong program is given one.
    """
    src = root / "src"
    units = [src / f"{program}.c"]
    if (program == "sender") != (strategy is not None):
        raise ConfigError(f"{program}: got strategy {strategy}, a sender has one, a receiver none")
    if strategy is not None:
        units.append(src / "strategies" / f"{strategy}.c")
        if not units[-1].is_file():
            known = ", ".join(strategies(root))
            raise ConfigError(f"{units[-1]}: not found; there are {known}: write it, or use those")
    return units + [src / name for name in SHARED]


def sources(program: Program, strategy: str | None, root: Path) -> list[Path]:
    """Return every file of the project that decides a program: its C files and their headers.

    Headers are found by following ``#include "..."``, so that a program depends on exactly those
    that it includes. Parameters and errors are those of `translation_units`.
    """
    src = root / "src"
    found = translation_units(program, strategy, root)
    for path in found:  # grows while it is walked: headers include headers
        for name in _OWN_INCLUDE.findall(path.read_text(encoding="utf-8")):
            # Beside the including file, as the compiler looks first, else from -Isrc.
            beside = path.parent / name
            header = beside if beside.is_file() else src / name
            if header not in found:
                found.append(header)
    return found


def source_digest(paths: list[Path], root: Path) -> str:
    """Return the SHA-256 over the names and contents of the files, in hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def compile_flags(*, sanitize: Sanitizer | None = None, werror: bool = False) -> list[str]:
    """Return the flags that decide the code, as they are recorded in each program."""
    return [
        *LANGUAGE_FLAGS,
        *OPTIMISE_FLAGS,
        *(SANITIZER_FLAGS[sanitize] if sanitize is not None else ()),
        *WARNING_FLAGS,
        *(("-Werror",) if werror else ()),
    ]


def compile_program(
    program: Program,
    strategy: str | None,
    output: Path,
    *,
    root: Path,
    compiler: str = "cc",
    sanitize: Sanitizer | None = None,
    werror: bool = False,
) -> None:
    """Compile and link one program.

    Parameters
    ----------
    program, strategy, root
        See `translation_units`.
    output
        The program's path; its folder is made where it is missing.
    compiler
        The command of a C compiler that takes gcc's flags.
    sanitize
        ``address`` (with undefined behaviour) or ``thread``, for tests.
    werror
        Whether warnings are errors.

    Raises
    ------
    ConfigError
        See `translation_units`.
    HostError
        If there is no such compiler, or it refuses the sources; the message holds what it says.
    """
    flags = compile_flags(sanitize=sanitize, werror=werror)
    digest = source_digest(sources(program, strategy, root), root)
    units = translation_units(program, strategy, root)
    output.parent.mkdir(parents=True, exist_ok=True)
    command = [
        compiler,
        *flags,
        f'-DCOPYCOST_SOURCE_DIGEST="{digest}"',
        f'-DCOPYCOST_FLAGS="{shlex.join(flags)}"',
        # Debug data name no folder, so that the same sources give the same program anywhere.
        f"-ffile-prefix-map={root.resolve()}=.",
        "-Isrc",
        *(str(unit.relative_to(root)) for unit in units),
        "-o",
        str(output.resolve()),
        *LIBRARIES,
    ]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise HostError(
            f"compiler: {compiler} not found, expected gcc or clang; install gcc (./run does)"
        ) from None
    if done.returncode != 0:
        name = f"{program} {strategy}" if strategy else program
        raise HostError(
            f"{name}: {compiler} refused the sources (exit code {done.returncode}):\n"
            f"{done.stderr.strip()}\n{shlex.join(command)}"
        )


def check_all(compiler: str, root: Path) -> None:
    """Compile all programs with warnings as errors, and keep none; errors as `compile_program`."""
    with tempfile.TemporaryDirectory() as folder:
        for strategy in (None, *strategies(root)):
            compile_program(
                "sender" if strategy else "receiver",
                strategy,
                Path(folder, strategy or "receiver"),
                root=root,
                compiler=compiler,
                werror=True,
            )


def tidy(root: Path) -> int:
    """Run clang-tidy over all C files with the flags of a build and return its exit code.

    Raises
    ------
    HostError
        If there is no clang-tidy.
    """
    files = sorted(root.glob("src/*.c")) + sorted(root.glob("src/strategies/*.c"))
    flags = [*compile_flags(), f"-I{root / 'src'}"]
    command = ["clang-tidy", "--quiet", *map(str, files), "--", *flags]
    try:
        return subprocess.run(command, check=False).returncode
    except FileNotFoundError:
        raise HostError(
            "clang-tidy: not found; it is in the environment of envs/requirements-dev.txt"
        ) from None


def main(arguments: Sequence[str]) -> int:
    """Run a check that ``./run test`` asks for and return the exit code."""
    parser = argparse.ArgumentParser(prog="copycost.toolchain", description="Check the C sources.")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="compile everything with warnings as errors")
    check.add_argument("--compiler", default="cc", help="a command that takes gcc's flags")
    commands.add_parser("tidy", help="run clang-tidy")
    chosen = parser.parse_args(arguments)
    root = Path(__file__).parents[2]
    try:
        if chosen.command == "tidy":
            return tidy(root)
        check_all(chosen.compiler, root)
    except (ConfigError, HostError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
