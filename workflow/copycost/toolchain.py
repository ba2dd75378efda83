"""Compile the C programs: the one place for their sources and flags."""

import hashlib
import re
import shlex
import subprocess
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
        f"-I{root / 'src'}",
        *(str(unit) for unit in units),
        "-o",
        str(output),
        *LIBRARIES,
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
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
