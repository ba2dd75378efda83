"""What programs need to run in a guest: libraries, and what modules of Python import.

Source: ld.so(8), ldd(1); gdb's documentation, "Debugging Information in Separate Files", on where
the names of a stripped library's functions lie; modulefinder of Python's library, which follows
import statements, those within functions included.
"""

import importlib.util
import marshal
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from modulefinder import ModuleFinder
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

# what the interpreter imports by itself, and by names that are made up: codecs
_ALWAYS = ("encodings.ascii", "encodings.idna", "encodings.latin_1", "encodings.utf_8", "io", "os")
# imported within functions only, for what happens at a terminal or with other programs' files
_NEVER = ("asyncio", "curses", "distutils", "doctest", "pdb", "pydoc", "ssl", "tkinter", "unittest")


def add_program(archive: Archive, program: Path, path: str | None = None) -> None:
    """Add a program, or a library, with all the libraries that it needs."""
    archive.add_copy(program, path)
    for library in libraries_of(program):
        if not archive.has(library):
            archive.add_copy(Path(library))
    if _LOADER_CACHE.exists() and not archive.has(str(_LOADER_CACHE)):
        archive.add_copy(_LOADER_CACHE)


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


def add_python(archive: Archive, modules: Iterable[Path]) -> None:
    """Add the interpreter, and of the standard library what these modules of ours import."""
    interpreter = Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    if not interpreter.exists():
        interpreter = Path(sys.executable).resolve()
    add_program(archive, interpreter)
    archive.add_link("/bin/python3", str(interpreter))
    standard = Path(sysconfig.get_path("stdlib"))
    ours = Path(__file__).parents[3]
    finder = ModuleFinder(
        [str(place) for place in (ours, standard, standard / "lib-dynload")], excludes=list(_NEVER)
    )
    for name in _ALWAYS:
        finder.import_hook(name)
    for module in modules:
        finder.load_file(str(module))
    for found in finder.modules.values():
        path = Path(getattr(found, "__file__", None) or "")
        if not path.is_relative_to(standard):
            continue  # ours
        if path.suffix == ".py":
            add_module(archive, path)
        elif path.suffix == ".so":
            add_program(archive, path)
    # by this folder the interpreter knows where its library is
    archive.add_folder(str(standard / "lib-dynload"))


def add_module(archive: Archive, module: Path, path: str | None = None) -> None:
    """Add a module, where it is here unless said otherwise, and what it is compiled to.

    The guest would compile it at every boot. The form is the one that is taken without a look at
    the file (PEP 552).
    """
    inside, text = path or str(module), module.read_bytes()
    code = compile(text, inside, "exec", dont_inherit=True)
    unchecked = (1).to_bytes(4, "little")
    compiled = importlib.util.MAGIC_NUMBER + unchecked + bytes(8) + marshal.dumps(code)
    archive.add(inside, text)
    archive.add(importlib.util.cache_from_source(inside), compiled)
