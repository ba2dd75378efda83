"""What a keeper does for its clients, whatever it keeps."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from copycost.errors import HostError
from copycost.hosts.remote.keeper import Keeper
from copycost.hosts.remote.keeping import ask_keeper
from copycost.hosts.remote.words import Words


class Faulty(Keeper):
    idle_s = 5.0

    def answer(self, asked: Words) -> tuple[Words, list[int]]:
        return asked["what nobody says"], []

    def take_back(self) -> None:
        pass

    def close(self) -> None:
        pass


def test_a_fault_of_a_keepers_own_is_told_to_its_client_before_it_ends() -> None:
    kind = socket.AF_UNIX, socket.SOCK_SEQPACKET
    with socket.socket(*kind) as listening, socket.socket(*kind) as client:
        listening.bind("")  # the kernel chooses an abstract address
        listening.listen()
        client.settimeout(5.0)
        with ThreadPoolExecutor() as pool:
            serving = pool.submit(Faulty(listening, ()).serve)
            client.connect(listening.getsockname())
            said = r"own: KeyError: 'what nobody says' \(test_keeper.py, line \d+\); run again"
            with pytest.raises(HostError, match=said):
                ask_keeper(client, {"op": "lend"})
            with pytest.raises(KeyError):
                serving.result(5.0)
