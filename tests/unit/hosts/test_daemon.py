"""What a daemon does for its clients, whatever it keeps."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from copycost.errors import HostError
from copycost.hosts.remote.daemon import AgentLine, Daemon
from copycost.hosts.remote.daemon_client import Words, ask_daemon


class Faulty(Daemon[str, AgentLine]):
    idle_s = 5.0

    def answer(self, asked: Words) -> tuple[Words, list[int]]:
        return asked["what nobody says"], []


def test_a_fault_of_a_daemons_own_is_told_to_its_client_before_it_ends() -> None:
    kind = socket.AF_UNIX, socket.SOCK_SEQPACKET
    with socket.socket(*kind) as listening, socket.socket(*kind) as client:
        listening.bind("")  # the kernel chooses an abstract address
        listening.listen()
        client.settimeout(5.0)
        with ThreadPoolExecutor() as pool:
            serving = pool.submit(Faulty(listening, ()).serve)
            client.connect(listening.getsockname())
            said = r"own: KeyError: 'what nobody says' \(test_daemon.py, line \d+\); run again"
            with pytest.raises(HostError, match=said):
                ask_daemon(client, {"op": "lend"})
            with pytest.raises(KeyError):
                serving.result(5.0)
