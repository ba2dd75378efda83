"""Compile the C programs: the one place for their sources and flags."""

import functools
import hashlib
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from copycost.errors import ConfigError, HostError

Program = Literal[
    "sender", "receiver", "memory_floor", "simulated_cell", "simulated_plugin", "simulated_walk"
]
Sanitizer = Literal["address", "thread"]

#: The part of a program that there are several of, by the folder in src that holds them.
PART_FOLDERS: dict[Program, str] = {"sender": "strategies", "receiver": "receivers"}

#: Those that are no programs, but loaded by one, and how that is built.
SHARED_OBJECTS: frozenset[Program] = frozenset({"simulated_plugin"})
SHARED_FLAGS = ("-fPIC", "-shared", "-fvisibility=hidden")

#: From where ``#include "..."`` names a header, seen from the project's folder, in which compilers
#: run.
INCLUDE_FLAGS = ("-Isrc",)

LANGUAGE_FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-pthread")
WARNING_FLAGS = (
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wconversion",
    "-Wstrict-prototypes",
    "-Wmissing-prototypes",
)
#: -g costs nothing at run time and gives profiles their names. perf follows call stacks by frame
#: pointers; where another value lies in that register it may find what it takes for a broken stack,
#: and then discards the kernel's part too.
OPTIMISE_FLAGS = ("-O2", "-g", "-fno-omit-frame-pointer")
LIBRARIES = ("-lm",)

#: A library of the host that only the sources with this #include are linked with. Where its headers
#: are missing those sources compile all the same, to a program that says so.
URING_INCLUDE = "#include <liburing.h>"
URING_LIBRARY = "-luring"

#: A program with its libraries in it needs no more than a kernel wherever it is brought.
STATIC_FLAG = "-static"

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


def parts(program: Program, root: Path) -> list[str]:
    """Return the names of all parts of a program, which are the names of their files, sorted."""
    folder = PART_FOLDERS.get(program)
    return sorted(path.stem for path in (root / "src" / folder).glob("*.c")) if folder else []


def strategies(root: Path) -> list[str]:
    """Return the names of all strategies, which are the parts of a sender."""
    return parts("sender", root)


def receivers(root: Path) -> list[str]:
    """Return the names of all ways to receive, which are the parts of a receiver."""
    return parts("receiver", root)


def all_programs(root: Path) -> list[tuple[Program, str | None]]:
    """Return every program that there is, with each of its parts."""
    found: list[tuple[Program, str | None]] = []
    for program in get_args(Program):
        if (root / "src" / f"{program}.c").is_file():
            found += [(program, part) for part in parts(program, root)] or [(program, None)]
    return found


def sources(program: Program, part: str | None, root: Path) -> list[Path]:
    """Return every file of the project that decides a program: its C files and their headers.

    The rest follows from its own file in src and its part (a sender's strategy, a receiver's way to
    receive; None for a program without parts): the headers that ``#include "..."`` names, and the C
    file of each header, so that a program depends on exactly what it uses. ConfigError if there is
    no such part.
    """
    src = root / "src"
    found = [src / f"{program}.c"]
    if (program in PART_FOLDERS) != (part is not None):
        raise ConfigError(
            f"{program}: got part {part}, but a sender has a strategy, a receiver a way to receive,"
            " other programs no part"
        )
    if part is not None:
        found.append(src / PART_FOLDERS[program] / f"{part}.c")
        if not found[-1].is_file():
            known = ", ".join(parts(program, root))
            raise ConfigError(f"{found[-1]}: not found; there are {known}: write it, or use those")
    for path in found:  # grows while it is walked: headers include headers
        for name in _OWN_INCLUDE.findall(path.read_text("utf-8", errors="replace")):
            # Beside the including file, as the compiler looks first, else from -Isrc.
            beside = path.parent / name
            header = beside if beside.is_file() else src / name
            for file in (header, header.with_suffix(".c")):
                if file not in found and (file == header or file.is_file()):
                    found.append(file)
    return found


def translation_units(program: Program, part: str | None, root: Path) -> list[Path]:
    """Return the C files that a program is compiled from; parameters and errors as `sources`."""
    return [path for path in sources(program, part, root) if path.suffix == ".c"]


@functools.cache
def _takes(compiler: str, source: str, *flags: str) -> bool:
    command = [compiler, "-x", "c", "-", "-o", "/dev/null", *flags]
    try:
        done = subprocess.run(command, input=source.encode(), capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return done.returncode == 0


def libraries(
    program: Program, part: str | None, root: Path, *, compiler: str = "cc", static: bool = False
) -> list[str]:
    """Return the flags of the libraries that a program is linked with on this host.

    They change when a library is installed later, and the program is then to be built again.
    Parameters and errors are those of `compile_program`.
    """
    found = [*LIBRARIES]
    texts = (path.read_text("utf-8", errors="replace") for path in sources(program, part, root))
    if any(URING_INCLUDE in text for text in texts) and _takes(compiler, URING_INCLUDE, "-E"):
        found.append(URING_LIBRARY)
    if static and _takes(compiler, "int main(void) { return 0; }", STATIC_FLAG, *found):
        return [STATIC_FLAG, *found]
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
    part: str | None,
    output: Path,
    *,
    root: Path,
    compiler: str = "cc",
    static: bool = False,
    sanitize: Sanitizer | None = None,
    werror: bool = False,
) -> None:
    """Compile and link one program of `sources`, in a folder that is made where it is missing.

    The compiler is a command that takes gcc's flags; `static` links libraries into the program
    where this host has them in that form; `sanitize` is ``address`` (with undefined behaviour) or
    ``thread``, for tests; `werror` makes warnings errors. Errors are those of `sources` and of
    `run_compiler`.
    """
    flags = compile_flags(sanitize=sanitize, werror=werror)
    if program in SHARED_OBJECTS:
        flags += SHARED_FLAGS
    linked = libraries(program, part, root, compiler=compiler, static=static)
    recorded = [*flags, *(flag for flag in linked if flag == STATIC_FLAG)]
    digest = source_digest(sources(program, part, root), root)
    output.parent.mkdir(parents=True, exist_ok=True)
    command = [
        compiler,
        *flags,
        f'-DCOPYCOST_SOURCE_DIGEST="{digest}"',
        f'-DCOPYCOST_FLAGS="{shlex.join(recorded)}"',
        # Debug data name no folder, so that the same sources give the same program anywhere.
        f"-ffile-prefix-map={root.resolve()}=.",
        *INCLUDE_FLAGS,
        *(str(unit.relative_to(root)) for unit in translation_units(program, part, root)),
        "-o",
        str(output.resolve()),
        *linked,
    ]
    run_compiler(command, f"{program} {part}" if part else program, root)


def run_compiler(command: Sequence[str], name: str, root: Path) -> None:
    """Run a compiler in the project's folder; `name` is what it compiles.

    HostError if there is no such compiler, or it refuses the sources: then with what it says.
    """
    env = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            cwd=root,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env=env,
        )
    except FileNotFoundError:
        raise HostError(
            f"compiler: {command[0]} not found, expected gcc or clang; install gcc (./run does)"
        ) from None
    if done.returncode != 0:
        raise HostError(
            f"{name}: {command[0]} refused the sources (exit code {done.returncode}):\n"
            f"{done.stderr.strip()}\n{shlex.join(command)}"
        )
