"""The options of the programs that send and receive."""

from collections.abc import Mapping, Sequence

from copycost.hosts.side import SideName
from copycost.measure.drivers.protocol import Setup
from copycost.testbeds.drop_hook import SINK_PORT, DropHook


def side_options(setup: Setup, name: SideName, ring_bytes: int, io_timeout_s: float) -> list[str]:
    """Return a program's options, without those for control line and perf.

    Options that leave things as they are by default are left out. The ring of messages is of all
    threads together; 0 for one message.
    """
    options: dict[str, str | int] = {
        **_addresses(setup, name),
        "--threads": setup.cell.n_threads,
        "--msg-bytes": setup.cell.msg_bytes,
    }
    if setup.placement.pinned:
        options["--cpus"] = ",".join(map(str, setup.placement.cpus(name)))
    options |= _socket_options(setup)
    flags = {}
    if name == "sender":
        options |= _message_options(setup, ring_bytes)
        flags = {"--sink": setup.testbed.drop_hook is not None, "--fresh": setup.settings.fresh}
    options["--io-timeout-ms"] = round(io_timeout_s * 1e3)
    words = [word for option, value in options.items() for word in (option, str(value))]
    return words + [flag for flag, wanted in flags.items() if wanted]


def _addresses(setup: Setup, name: SideName) -> dict[str, str | int]:
    testbed = setup.testbed
    if testbed.drop_hook is not None:
        return {"--connect": testbed.addresses[1], "--port": SINK_PORT}
    # the receiver connects to the sender
    if name == "receiver":
        return {"--connect": testbed.addresses[0]}
    if testbed.ports is None:
        return {"--bind": testbed.addresses[0]}
    first, last = testbed.ports
    return {"--bind": testbed.addresses[0], "--port": first, "--last-port": last}


def _socket_options(setup: Setup) -> dict[str, str | int]:
    settings = setup.settings
    asks = settings.mode == "request_response"
    options: dict[str, str | int] = {
        "--sndbuf-bytes": settings.send_buffer_bytes or 0,
        "--rcvbuf-bytes": settings.receive_buffer_bytes or 0,
    }
    if setup.testbed.transport == "datagram":
        options["--transport"] = "datagram"
    else:
        congestion = list(dict.fromkeys([settings.congestion_control, "reno"]))
        options["--congestion"] = ",".join(congestion)
        # a request whose end waits for an acknowledgement (Nagle) would time that instead
        left_to_us = asks and settings.tcp_nodelay == "kernel"
        options["--nodelay"] = "on" if left_to_us else settings.tcp_nodelay
    if asks:
        options["--mode"] = settings.mode
    return options


def _message_options(setup: Setup, ring_bytes: int) -> dict[str, int]:
    """Return how the sender makes its messages, hands them over, and how fast it may be."""
    chosen = {
        "--batch": (setup.cell.batch, 1),
        "--ring-bytes": (ring_bytes, 0),
        "--interval-ns": (setup.settings.interval_ns, 0),
    }
    options = {option: value for option, (value, usual) in chosen.items() if value != usual}
    limit = setup.testbed.payload_limit(setup.cell.msg_bytes)  # where the path says what it carries
    return options if limit is None else options | {"--rate": max(1, round(limit))}


def settle_sink(
    hook: DropHook, totals: Sequence[Mapping[str, int]], msg_bytes: int
) -> dict[str, int]:
    """Return what became of all datagrams of a run, warm-up included; its senders have ended.

    Each sender counted `datagrams` and `bytes` from the first to the last. The hook counts packets,
    and one may hold many datagrams (UDP_SEGMENT), so these are counted by their bytes.
    """
    n_bytes = sum(total["bytes"] for total in totals)
    dropped = hook.read_settled(n_bytes)
    return {
        "sent_datagrams": sum(total["datagrams"] for total in totals),
        "dropped_datagrams": dropped.payload_bytes // msg_bytes,
        "lost_before_hook": max(0, n_bytes - dropped.payload_bytes) // msg_bytes,
        "dropped_packets": dropped.packets,
        "dropped_bytes": dropped.payload_bytes,
    }
