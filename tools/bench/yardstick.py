"""Running another benchmark's server and client on our testbed."""

import time
from collections.abc import Sequence

from copycost.errors import HostError
from copycost.hosts.host import Program
from copycost.hosts.launch import Launch
from copycost.testbeds.testbed import Testbed

_SLACK_S = 15.0
_READY_TIMEOUT_S = 10.0
_POLL_S = 0.01


def client_output(
    testbed: Testbed,
    server: Sequence[str],
    client: Sequence[str],
    *,
    program: str,
    ready: str,
    duration_s: float,
) -> str:
    """Run a server at the receiver's end, and once it is ready a client at the sender's.

    Of `program` both are, in a package of that name; `ready` is part of the line by which the
    server says that it is ready; the client is meant to take so long [s].

    Raises
    ------
    HostError
        If the program is missing, its server does not start, or its client does not end.
    """
    here = testbed.hosts["receiver"]
    if here.find_tool(program) is None:
        raise HostError(f"{program} was not found; install the package {program}")
    process = here.start(Launch(tuple(server), program, dies_with_us=True))
    try:
        _wait_until_ready(process, program, ready)
        return testbed.hosts["sender"].run(client, timeout_s=duration_s + _SLACK_S).stdout
    finally:
        process.end()
        process.close()


def _wait_until_ready(server: Program, program: str, ready: str) -> None:
    """Wait for a line of the server's; one that ends has said why."""
    deadline_s = time.monotonic() + _READY_TIMEOUT_S
    while ready not in (said := server.output() + server.errors()):
        if server.poll() is not None or time.monotonic() > deadline_s:
            lines = " ".join(said.split()) or "it said nothing"
            raise HostError(f"{program}: the server did not start: {lines}")
        time.sleep(_POLL_S)
