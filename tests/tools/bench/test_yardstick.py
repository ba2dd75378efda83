"""Another benchmark's server and client, as far as they go wrong."""

import pytest

from copycost.errors import HostError
from copycost.testbeds.testbed import open_testbed
from tools.bench import yardstick
from tools.bench.yardstick import client_output

SERVER = ["sh", "-c", "echo ready; exec sleep 600"]


def run(server: list[str], client: list[str]) -> str:
    with open_testbed("loopback") as testbed:
        return client_output(testbed, server, client, program="sh", ready="ready", duration_s=0.05)


def test_what_the_client_prints_is_returned() -> None:
    assert run(SERVER, ["echo", "1.5"]) == "1.5\n"


def test_a_server_that_does_not_start_is_quoted() -> None:
    with pytest.raises(HostError, match="sh: the server did not start: no such option"):
        run(["echo", "no such option"], ["true"])


def test_a_client_that_does_not_end_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yardstick, "_SLACK_S", 0.05)
    with pytest.raises(HostError, match=r"sleep 600 did not end within 0\.1 s"):
        run(SERVER, ["sleep", "600"])
