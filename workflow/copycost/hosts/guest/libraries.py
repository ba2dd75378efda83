"""What a program needs to run in a guest: its libraries, by what the loader says.

Source: ld.so(8), ldd(1).
"""

import re
import subprocess
from pathlib import Path

from copycost.errors import Unavailable
from copycost.hosts.guest.archive import Archive

_LIBRARY = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)
_MISSING = re.compile(r"^\s*(\S+) => not found$", re.MULTILINE)
# by which the loader finds libraries in folders that are not its own
_LOADER_CACHE = Path("/etc/ld.so.cache")


def add_program(archive: Archive, program: Path, path: str | None = None) -> None:
    """Add a program, or a library, with all the libraries that it needs.

    Raises
    ------
    Unavailable
        If one of them is missing here.
    """
    archive.add_copy(program, path)
    for library in libraries_of(program):
        if not archive.has(library):
            archive.add_copy(Path(library))
    if _LOADER_CACHE.exists() and not archive.has(str(_LOADER_CACHE)):
        archive.add_copy(_LOADER_CACHE)


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
