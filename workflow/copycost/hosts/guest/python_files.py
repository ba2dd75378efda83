"""The part of Python's standard library that some modules import, with the interpreter itself.

Source: modulefinder(3) follows import statements, those within functions included.
"""

import importlib.util
import marshal
import sys
import sysconfig
from collections.abc import Iterable
from modulefinder import ModuleFinder
from pathlib import Path

from copycost.hosts.guest.archive import Archive
from copycost.hosts.guest.libraries import add_program

INTERPRETER = "/bin/python3"
"""Where it is in a guest."""

# what the interpreter imports by itself, and by names that are made up: codecs
_ALWAYS = ("encodings.ascii", "encodings.idna", "encodings.latin_1", "encodings.utf_8", "io", "os")
# imported within functions only, for what happens at a terminal or with other programs' files
_NEVER = ("asyncio", "curses", "distutils", "doctest", "pdb", "pydoc", "ssl", "tkinter", "unittest")


def add_python(archive: Archive, modules: Iterable[Path]) -> None:
    """Add the interpreter, and of the standard library what these modules of ours import."""
    interpreter = Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    if not interpreter.exists():
        interpreter = Path(sys.executable).resolve()
    add_program(archive, interpreter)
    archive.add_link(INTERPRETER, str(interpreter))
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

    The guest would compile it at every boot.
    """
    inside = path or str(module)
    archive.add(inside, module.read_bytes())
    archive.add(importlib.util.cache_from_source(inside), _compiled(module, inside))


def _compiled(path: Path, inside: str) -> bytes:
    """Return a file compiled, in the form that is taken without a look at the file (PEP 552)."""
    code = compile(path.read_bytes(), inside, "exec", dont_inherit=True)
    unchecked = (1).to_bytes(4, "little")
    return importlib.util.MAGIC_NUMBER + unchecked + bytes(8) + marshal.dumps(code)
