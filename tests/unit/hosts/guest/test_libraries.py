"""What a program brings along into a guest: the names of its C library's functions."""

from pathlib import Path

import pytest

from copycost.hosts.guest import libraries
from copycost.hosts.guest.archive import Archive

BUILD = bytes(range(20))
NOTE = bytes.fromhex("040000001400000003000000") + b"GNU\0" + BUILD


@pytest.fixture
def symbols(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for symbols; the C library of every program is a file with one build's id."""
    library = tmp_path / "libc.so.6"
    library.write_bytes(b"\x7fELF and so on" + NOTE + b"and more")
    monkeypatch.setattr(libraries, "libraries_of", lambda program: ["/lib/other.so", str(library)])
    monkeypatch.setattr(libraries, "_SYMBOLS", tmp_path / "debug")
    return tmp_path / "debug" / BUILD.hex()[:2]


def test_what_names_the_functions_of_the_c_library_comes_along(symbols: Path) -> None:
    archive = Archive()
    libraries.add_symbols(archive, Path("/bin/any"))  # there is none
    symbols.mkdir(parents=True)
    path = symbols / f"{BUILD.hex()[2:]}.debug"
    assert not archive.has(str(path))
    path.write_bytes(b"names")
    libraries.add_symbols(archive, Path("/bin/any"))
    assert archive.has(str(path))


def test_a_program_without_a_c_library_brings_no_names(
    symbols: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libraries, "libraries_of", lambda program: [])
    assert libraries.symbols_of(Path("/bin/static")) is None
