"""What an agent tells of its host: files, tools, processes; a method for each request."""

from copycost.hosts.local import LocalHost, LocalReader
from copycost.hosts.remote import messages
from copycost.hosts.remote.messages import Message, Part


class ServedFacts(Part):
    """What one session asks of a host, and the files that it has open."""

    def __init__(self, host: LocalHost) -> None:
        self._host = host
        self._readers: dict[int, LocalReader] = {}

    def close(self) -> None:
        """Close the files."""
        for reader in self._readers.values():
            reader.close()

    def _do_text(self, message: Message) -> str | None:
        return self._host.files.text(message["path"])

    def _do_texts(self, message: Message) -> dict[str, str | None]:
        files = self._host.files
        found = (path for pattern in message["patterns"] for path in files.glob(pattern))
        return {str(path): files.text(str(path)) for path in found}

    def _do_lines(self, message: Message) -> list[str]:
        return self._host.files.lines(message["path"], message["n_most"])

    def _do_gzipped_text(self, message: Message) -> str | None:
        return self._host.files.gzipped_text(message["path"])

    def _do_glob(self, message: Message) -> list[str]:
        return [str(path) for path in self._host.files.glob(message["pattern"])]

    def _do_constant(self, message: Message) -> int:
        return self._host.constant(message["name"])

    def _do_usable_cpus(self, _: Message) -> list[int]:
        return sorted(self._host.usable_cpus())

    def _do_find_tool(self, message: Message) -> str | None:
        return self._host.find_tool(message["name"])

    def _do_free_ports(self, message: Message) -> list[int]:
        ports = message["ports"]
        wanted = None if ports is None else (ports[0], ports[1])
        return self._host.free_ports(message["address"], message["n"], wanted)

    def _do_allows_congestion_control(self, message: Message) -> bool:
        return self._host.allows_congestion_control(message["name"])

    def _do_usage(self, message: Message) -> Message:
        return messages.usage_as_message(self._host.usage(message["pids"]))

    def _do_usage_or_none(self, message: Message) -> Message | None:
        try:
            return self._do_usage(message)
        except OSError:
            return None

    def _do_written_bytes(self, message: Message) -> int | None:
        return self._host.written_bytes(message["pid"])

    def _do_signal(self, message: Message) -> None:
        self._host.signal(message["pids"], message["number"])

    def _do_prioritise(self, message: Message) -> None:
        self._host.prioritise(message["pids"])

    def _do_open_reader(self, message: Message) -> None:
        self._readers[message["reader"]] = self._host.reader(message["paths"])

    def _do_read(self, message: Message) -> tuple[int, dict[str, str]]:
        return self._readers[message["reader"]].read()

    def _do_close_reader(self, message: Message) -> None:
        self._readers.pop(message["reader"]).close()
