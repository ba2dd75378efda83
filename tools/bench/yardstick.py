"""Running another benchmark's server and client on our testbed."""

import shutil
import subprocess
from collections.abc import Sequence

from copycost.errors import HostError
from copycost.testbeds.testbed import Testbed

_SLACK_S = 15.0


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

    Parameters
    ----------
    server, client : sequence of str
        Their commands.
    program : str
        What both are, and the package that has it.
    ready : str
        Part of the line by which the server says that it is ready.
    duration_s : float
        How long the client is meant to take [s].

    Raises
    ------
    HostError
        If the program is missing, its server does not start, or its client does not end.
    """
    if shutil.which(program) is None:
        raise HostError(f"{program} was not found; install the package {program}")
    with testbed.inside("receiver"):
        process = subprocess.Popen(
            server, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    try:
        _wait_until_ready(process, program, ready)
        with testbed.inside("sender"):
            return subprocess.run(
                client,
                capture_output=True,
                text=True,
                check=False,
                timeout=duration_s + _SLACK_S,
            ).stdout
    except subprocess.TimeoutExpired as error:
        raise HostError(f"{program}: the client did not end within {error.timeout:g} s") from error
    finally:
        process.kill()
        process.communicate()


def _wait_until_ready(server: subprocess.Popen[str], program: str, ready: str) -> None:
    """Read the server's lines until it is ready; its end is the end of the lines."""
    said = []
    for line in server.stdout or ():
        said.append(line.strip())
        if ready in line:
            return
    raise HostError(f"{program}: the server did not start: {' '.join(said) or 'it said nothing'}")
