"""A network namespace of this machine, as a host: other addresses, devices and network counters."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from copycost.hosts.facts.files import HostFiles
from copycost.hosts.local import LocalHost, of_this_thread
from copycost.hosts.namespaces import Namespace


@dataclass(frozen=True, slots=True)
class NamespaceFiles(HostFiles):
    """The kernel's files as a process in the namespace sees them."""

    root: Path = Path("/")
    namespace: Namespace | None = None

    def text(self, path: str) -> str | None:
        """Return the stripped content of a file, or None where it cannot be read."""
        assert self.namespace is not None
        with self.namespace.entered():
            return HostFiles(self.root).text(of_this_thread(path))


class NamespaceHost(LocalHost):
    """A network namespace; CPUs, memory, clock and lock are those of its machine."""

    def __init__(self, machine: LocalHost, namespace: Namespace, name: str) -> None:
        super().__init__(name)
        self._machine = machine
        self.namespace = namespace
        self.files = NamespaceFiles(namespace=namespace)
        self._held_fds = machine._held_fds

    @property
    def machine(self) -> LocalHost:
        """The machine whose namespace it is."""
        return self._machine

    def inside(self) -> AbstractContextManager[None]:
        """Return a block in which what is started, opened or connected belongs to the namespace."""
        return self.namespace.entered()
