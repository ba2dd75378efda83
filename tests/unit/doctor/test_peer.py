"""What is told of another machine where something is in the way: that, and never a traceback."""

import io
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

from copycost.config.wire import Peer
from copycost.doctor import peer as described
from copycost.doctor.peer import collect_peer
from copycost.errors import HostError, Unavailable
from copycost.hosts.facts.files import HostFiles
from copycost.hosts.host import stream
from copycost.hosts.local import LocalHost
from copycost.hosts.remote.connection import ConnectionLost

HERE, THERE = "127.0.0.1", "127.0.0.2"


class Other:
    """A machine at the other end of ssh, and what it answers: a text, or an error."""

    name = "me@lab2"
    about = LocalHost().about
    clock = LocalHost().resync()

    def __init__(self, answers: dict[str, str | Exception], root: Path = Path("/nowhere")) -> None:
        self.files = HostFiles(root)
        self._answers = answers

    def __enter__(self) -> "Other":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, words: list[str], **_: object) -> SimpleNamespace:
        said = self._answers[words[0]]
        if isinstance(said, Exception):
            raise said
        return SimpleNamespace(returncode=0, stdout=said, stderr="")


def unavailable(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, str | Exception]
) -> dict[str, Any]:
    monkeypatch.setattr(described, "SshHost", lambda _: Other(answers))
    wire: Any = collect_peer(Peer("me@lab2"))["wire"]
    return dict(wire)


def test_an_address_of_ipv6_is_a_sentence_with_the_key_to_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = unavailable(monkeypatch, {"sh": "2001:db8::1 50000 2001:db8::2 22\n"})
    assert "over IPv6 (2001:db8::2), which is not measured" in found["unavailable"]["reason"]
    remedy = "set wire.address in config.yaml to an IPv4 address of it"
    assert found["unavailable"]["remedy"] == remedy


@pytest.mark.parametrize(
    "error",
    [
        HostError("me@lab2: no space left on device; make room there"),
        ConnectionLost("the connection to me@lab2 ended; see that it runs, then run again"),
        FileNotFoundError(2, "No such file or directory", "sh"),
        OSError(28, "No space left on device"),
    ],
)
def test_whatever_goes_wrong_is_of_that_machine_alone(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    found = unavailable(monkeypatch, {"sh": error})["unavailable"]
    assert str(error) in found["reason"]
    assert found["remedy"]


class Far(LocalHost):
    """This machine, with an address of its own, behind a firewall as it is told."""

    def __init__(self, *, comes_here: bool = True) -> None:
        super().__init__("me@lab2")
        self._comes_here = comes_here
        self.tools = {"python3"}

    def find_tool(self, name: str) -> str | None:
        return f"/usr/bin/{name}" if name in self.tools else None

    def run(self, *_: object, **__: object) -> SimpleNamespace:  # type: ignore[override]
        return SimpleNamespace(returncode=0 if self._comes_here else 1)


@contextmanager
def listening(_: object, words: Sequence[str]) -> Iterator[IO[bytes]]:
    with socket.create_server((words[-2], int(words[-1]))):
        yield io.BytesIO(b"listening\n")


def kept_out(far: Far, theirs: str = THERE, ports: tuple[int, int] | None = None) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(described, "stream", listening)
        return dict(described.what_keeps_out((LocalHost(), far), (HERE, theirs), ports))


def test_both_ways_are_tried() -> None:
    assert kept_out(Far()) == {"here": None, "there": None}


def test_each_way_that_is_shut_has_the_machine_that_shuts_it_and_the_ports() -> None:
    found = kept_out(Far(comes_here=False), ports=(41000, 41099))
    assert found["there"] is None
    assert found["here"] == {
        "reason": f"a TCP connection from {THERE} to {HERE} was tried and failed",
        "remedy": f"allow TCP connections from {THERE} on this host, to ports 41000 to 41099",
    }


def test_way_there_is_shut_where_our_connection_does_not_arrive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def dropped(*_: object) -> None:
        raise TimeoutError("timed out")

    monkeypatch.setattr(described.socket, "create_connection", dropped)
    found = kept_out(Far())
    assert found["here"] is None
    assert found["there"]["remedy"].startswith(f"allow TCP connections from {HERE} on me@lab2, to")


def test_an_address_that_no_program_there_can_listen_at_is_named() -> None:
    found = kept_out(Far(), "192.0.2.7")
    assert found["here"] is None
    assert (
        "no program on me@lab2 can listen at 192.0.2.7 (Cannot assign" in found["there"]["reason"]
    )
    assert "wire.address" in found["there"]["remedy"]


def test_another_python_than_python3_is_found_and_none_is_a_sentence() -> None:
    far = Far()
    far.tools = {"python3.12"}
    assert kept_out(far) == {"here": None, "there": None}
    far.tools = set()
    with pytest.raises(Unavailable, match="has no python3"):
        kept_out(far)


def test_what_listens_there_says_so_and_ends_once_somebody_came() -> None:
    (port,) = LocalHost().free_ports(HERE, 1)
    words = ["python3", "-c", described._LISTEN, HERE, str(port)]
    with stream(LocalHost(), words) as said:
        assert said.readline() == b"listening\n"
        assert described._reaches((HERE, 0), (HERE, port))
        assert said.read() == b""
