"""What a program needs to run in a guest: its libraries, by what the loader says.

Source: ld.so(8), ldd(1); gdb's documentation, "Debugging Information in Separate Files", on where
the names of a stripped library's functions lie.
"""

import re
import subprocess
from pathlib import Path

from copycost.errors import Unavailable
from copycost.hosts.guest.archive import Archive

_LIBRARY = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)
_MISSING = re.compile(r"^\s*(\S+) => not found$", re.MULTILINE)
_C_LIBRARY = "libc.so.6"
_SYMBOLS = Path("/usr/lib/debug/.build-id")
# of a note in ELF: bytes of its name and of what it says, its type, its name; then the build's id
_BUILD_ID = b"".join(number.to_bytes(4, "little") for number in (4, 20, 3)) + b"GNU\0"
# by which the loader finds libraries in folders that are not its own
_LOADER_CACHE = Path("/etc/ld.so.cache")


def add_program(archive: Archive, program: Path, path: str | None = None) -> None:
    """Add a program, or a library, with all the libraries that it needs."""
    archive.add_copy(program, path)
    for library in libraries_of(program):
        if not archive.has(library):
            archive.add_copy(Path(library))
    if _LOADER_CACHE.exists() and not archive.has(str(_LOADER_CACHE)):
        archive.add_copy(_LOADER_CACHE)


def add_symbols(archive: Archive, program: Path) -> None:
    """Add the names of the functions of a program's C library, for perf, where they are here."""
    symbols = symbols_of(program)
    if symbols is not None:
        archive.add_copy(symbols)


def symbols_of(program: Path) -> Path | None:
    """Return the file of what names the functions of a program's C library; None without one.

    Distributions strip libraries, and have the names in packages of their own: libc6-dbg.
    """
    library = next((one for one in libraries_of(program) if Path(one).name == _C_LIBRARY), None)
    if library is None:
        return None
    _, found, behind = Path(library).read_bytes().partition(_BUILD_ID)
    name = behind[:20].hex()
    path = _SYMBOLS / name[:2] / f"{name[2:]}.debug"
    return path if found and path.exists() else None


def libraries_of(program: Path) -> list[str]:
    """Return the paths of a program's libraries, and of its loader; none for a static one."""
    done = subprocess.run(
        ["ldd", str(program)], capture_output=True, text=True, check=False, env={"LC_ALL": "C"}
    )
    missing = _MISSING.findall(done.stdout)
    if missing:
        raise Unavailable(
            f"{program} needs {', '.join(missing)}, which is not here",
            f"install {program.name} again",
        )
    return _LIBRARY.findall(done.stdout)
