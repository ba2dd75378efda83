"""Run the tools that build a testbed, and say clearly what one of them refuses."""

from copycost.errors import HostError, Unavailable
from copycost.hosts.host import Host

_PACKAGES = {"ip": "iproute2", "nft": "nftables"}
_VETH_REMEDY = "run as root, and look whether the kernel has veth (modprobe veth)"


def run_tool(
    command: list[str],
    host: Host,
    text: str = "",
    pass_fds: tuple[int, ...] = (),
    remedy: str = _VETH_REMEDY,
) -> str:
    """Run a tool on a host and return what it prints; `text` is its standard input.

    It inherits `pass_fds`, on this machine. Unavailable, with the remedy, if it is missing or
    refuses; HostError if it was killed, did not end, or cannot be run.
    """
    try:
        done = host.run(command, text, pass_fds=pass_fds)
    except FileNotFoundError as error:
        package = _PACKAGES.get(command[0], command[0])
        raise Unavailable(
            f"the command {command[0]} was not found", f"install the package {package}"
        ) from error
    except PermissionError as error:
        raise Unavailable(
            f"the command {command[0]} may not be executed", f"allow executing it; {remedy}"
        ) from error
    if done.returncode < 0:
        raise HostError(f"{' '.join(command)} was killed by signal {-done.returncode}; run again")
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise Unavailable(
            f"{' '.join(command)} failed with exit status {done.returncode}: {said[0]}", remedy
        )
    return done.stdout
