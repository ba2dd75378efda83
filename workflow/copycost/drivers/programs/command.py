"""The options of the programs that send and receive."""

from copycost.drivers.programs.side import SideName
from copycost.drivers.programs.task import Task
from copycost.grid.capabilities import split_implementation
from copycost.hosts.placement import Placement
from copycost.testbeds.testbed import Testbed

# the port of the discard service (RFC 863): what is dropped before delivery needs no listener
_SINK_PORT = 9
_NS_PER_US = 1000


def side_command(
    task: Task, placement: Placement, testbed: Testbed, name: SideName, token: str
) -> list[str]:
    """Return a program with its options, apart from those that `start_side` adds.

    Options that leave things as they are by default are left out.
    """
    program = task.sender if name == "sender" else task.receiver
    assert program is not None, "nobody receives on this testbed"
    cpus = placement.sender_cpus if name == "sender" else placement.receiver_cpus
    options = {
        **_addresses(testbed, name),
        "--threads": task.cell.n_threads,
        "--msg-bytes": task.cell.msg_bytes,
        "--cpus": ",".join(map(str, cpus)),
        **_socket_options(task, testbed),
        **(_message_options(task) if name == "sender" else {}),
        "--io-timeout-ms": round(task.io_timeout_s * 1e3),
        "--token": token,
    }
    words = [word for option, value in options.items() for word in (option, str(value))]
    return [str(program.absolute()), *words, *_flags(task, testbed, name)]


def _addresses(testbed: Testbed, name: SideName) -> dict[str, str | int]:
    if testbed.drop_hook is not None:
        return {"--connect": testbed.addresses[1], "--port": _SINK_PORT}
    # the receiver connects to the sender
    return {"--bind" if name == "sender" else "--connect": testbed.addresses[0]}


def _socket_options(task: Task, testbed: Testbed) -> dict[str, str | int]:
    settings = task.settings
    asks = task.cell.study == "round_trips"
    options: dict[str, str | int] = {
        "--sndbuf-bytes": settings.send_buffer_bytes or 0,
        "--rcvbuf-bytes": settings.receive_buffer_bytes or 0,
    }
    if testbed.transport == "datagram":
        options["--transport"] = "datagram"
    else:
        congestion = list(dict.fromkeys([settings.congestion_control, "reno"]))
        options["--congestion"] = ",".join(congestion)
        # a request whose end waits for an acknowledgement (Nagle) would time that instead
        left_to_us = asks and settings.tcp_nodelay == "kernel"
        options["--nodelay"] = "on" if left_to_us else settings.tcp_nodelay
    if asks:
        options["--mode"] = "request_response"
    return options


def _message_options(task: Task) -> dict[str, str | int]:
    """Return how the sender makes its messages and hands them over."""
    _, batch = split_implementation(task.cell.implementation)
    interval_ns = task.settings.interval_us * _NS_PER_US
    chosen = {
        "--batch": (batch, 1),
        "--ring-bytes": (task.ring_bytes, 0),
        "--interval-ns": (interval_ns, 0),
    }
    return {option: value for option, (value, usual) in chosen.items() if value != usual}


def _flags(task: Task, testbed: Testbed, name: SideName) -> list[str]:
    if name == "receiver":
        return []
    flags = {"--sink": testbed.drop_hook is not None, "--fresh": task.settings.fresh}
    return [flag for flag, wanted in flags.items() if wanted]
