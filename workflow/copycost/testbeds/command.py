"""Run the tools that build a testbed, in a namespace, and say clearly what one of them refuses."""

import os
import subprocess

from copycost.errors import HostError
from copycost.hosts.namespaces import Namespace, TestbedUnavailable

# ordinary users often lack these folders in their PATH
_ENVIRONMENT = {"LC_ALL": "C", "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}
_PACKAGES = {"ip": "iproute2", "nft": "nftables"}
_TIMEOUT_S = 10.0
_VETH_REMEDY = "run as root, and look whether the kernel has veth (modprobe veth)"


def run_tool(
    command: list[str],
    namespace: Namespace | None,
    text: str = "",
    pass_fds: tuple[int, ...] = (),
    remedy: str = _VETH_REMEDY,
) -> str:
    """Run a tool in a namespace and return what it prints.

    Parameters
    ----------
    namespace : Namespace or None
        None is the present one.
    text : str
        Goes to the tool's standard input.
    pass_fds : tuple of int
        Descriptors that the tool inherits.
    remedy : str
        What can be done where it refuses.

    Raises
    ------
    TestbedUnavailable
        If the tool is missing or refuses.
    HostError
        If it was killed, did not end, or cannot be run.
    """
    try:
        if namespace is None:
            return _spawn(command, text, pass_fds, remedy)
        with namespace.entered():
            return _spawn(command, text, pass_fds, remedy)
    except FileNotFoundError as error:
        package = _PACKAGES.get(command[0], command[0])
        raise TestbedUnavailable(
            f"the command {command[0]} was not found", f"install the package {package}"
        ) from error


def _spawn(command: list[str], text: str, pass_fds: tuple[int, ...], remedy: str) -> str:
    try:
        done = subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            pass_fds=pass_fds,
            env=_ENVIRONMENT,
            check=False,
            timeout=_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired as error:
        raise HostError(
            f"{' '.join(command)} did not end within {_TIMEOUT_S:g} s; look for an overloaded host"
        ) from error
    except PermissionError as error:
        raise TestbedUnavailable(
            f"the command {command[0]} may not be executed", f"allow executing it; {remedy}"
        ) from error
    if done.returncode < 0:
        raise HostError(f"{' '.join(command)} was killed by signal {-done.returncode}; run again")
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise TestbedUnavailable(
            f"{' '.join(command)} failed with exit status {done.returncode}: {said[0]}", remedy
        )
    return done.stdout
