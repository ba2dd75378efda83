"""An archive of files that the kernel unpacks as its first file system.

Written here and not by cpio(1), so that the same content gives the same bytes whoever made the
files and when; and not compressed, since unpacking takes an emulated guest longer than reading.

Source: Documentation/driver-api/early-userspace/buffer-format.rst, format "newc".
"""

import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

_DEVICE_CONSOLE = (5, 1)
_END = "TRAILER!!!"


@dataclass(slots=True)
class Archive:
    """Files by their path in the guest; folders come by themselves."""

    _entries: dict[PurePosixPath, tuple[int, bytes]] = field(default_factory=dict)

    def add(self, path: str, content: bytes, mode: int = 0o644) -> None:
        """Add a file."""
        self._entries[_absolute(path)] = stat.S_IFREG | mode, content

    def add_link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self._entries[_absolute(path)] = stat.S_IFLNK | 0o777, target.encode()

    def add_folder(self, path: str) -> None:
        """Add an empty folder."""
        self._entries[_absolute(path)] = stat.S_IFDIR | 0o755, b""

    def add_copy(self, source: Path, path: str | None = None) -> None:
        """Add a file of this machine, where it is here unless said otherwise."""
        self.add(path or str(source), source.read_bytes(), stat.S_IMODE(source.stat().st_mode))

    def has(self, path: str) -> bool:
        """Return whether there is something at a path."""
        return _absolute(path) in self._entries

    def write(self, target: Path) -> None:
        """Write it, all at once or not at all."""
        temporary = target.with_name(f".{target.name}.new")
        with temporary.open("wb") as file:
            for part in self._parts():
                file.write(part)
        temporary.replace(target)

    def _parts(self) -> Iterator[bytes]:
        folders = {folder for path in self._entries for folder in list(path.parents)[:-1]}
        entries = {**dict.fromkeys(folders, (stat.S_IFDIR | 0o755, b"")), **self._entries}
        # a folder comes before what is in it
        for number, (path, (mode, content)) in enumerate(sorted(entries.items()), 1):
            yield _entry(number, str(path)[1:], mode, content)
        # without it the first process has no output
        if PurePosixPath("/dev") in entries:
            console = stat.S_IFCHR | 0o600
            yield _entry(len(entries) + 1, "dev/console", console, b"", _DEVICE_CONSOLE)
        yield _entry(0, _END, 0, b"")


def _absolute(path: str) -> PurePosixPath:
    return PurePosixPath("/") / path


def _entry(
    number: int, name: str, mode: int, content: bytes, device: tuple[int, int] = (0, 0)
) -> bytes:
    """Return an entry: a header of numbers of eight hexadecimal digits, the name, the content."""
    written = name.encode() + b"\0"
    # inode, mode, uid, gid, links, mtime, size, device that it is on (2) and is (2), name, check
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(written), 0)
    head = b"070701" + b"".join(b"%08X" % value for value in fields) + written
    return b"".join(part + bytes(-len(part) % 4) for part in (head, content))
