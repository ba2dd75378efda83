"""Files of a host that a stream leads to, by which its kernel describes it."""

from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from copycost.hosts.facts.files import HostFiles
from copycost.hosts.remote.connection import Connection

# what tells which CPUs share what is many small files that stay the same: asked for all at once
_CPUS = "sys/devices/system/cpu/cpu[0-9]*"
_STEADY = (
    f"{_CPUS}/topology/*_list",
    f"{_CPUS}/cache/index[0-9]*/level",
    f"{_CPUS}/cache/index[0-9]*/shared_cpu_list",
)


@dataclass(frozen=True, slots=True)
class RemoteFiles(HostFiles):
    """See `HostFiles`; each question takes a round trip."""

    root: Path = Path("/")
    connection: Connection | None = None
    steady: dict[str, str | None] = field(default_factory=dict)

    @property
    def _there(self) -> Connection:
        assert self.connection is not None
        return self.connection

    def text(self, path: str) -> str | None:
        """Return the stripped content of a file, or None where it cannot be read."""
        text: str | None
        if any(fnmatch(path, pattern) for pattern in _STEADY):
            if not self.steady:
                self.steady.update(self._there.ask("texts", patterns=_STEADY))
            text = self.steady.get(path)
        else:
            text = self._there.ask("text", path=path)
        return text

    def lines(self, path: str, n_most: int) -> list[str]:
        """Return the first lines of a file that may be long; none where it cannot be read."""
        lines: list[str] = self._there.ask("lines", path=path, n_most=n_most)
        return lines

    def gzipped_text(self, path: str) -> str | None:
        """Return the content of a gzip file such as ``/proc/config.gz``, or None."""
        text: str | None = self._there.ask("gzipped_text", path=path)
        return text

    def glob(self, pattern: str) -> list[Path]:
        """Return the matching paths, sorted, relative to the root."""
        return [Path(path) for path in self._there.ask("glob", pattern=pattern)]
