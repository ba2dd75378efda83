"""The options of the programs that send and receive."""

from collections.abc import Mapping, Sequence

from copycost.hosts.side import SideName
from copycost.measure.drivers.protocol import Setup
from copycost.records.record import SinkFacts
from copycost.testbeds.drop_hook import SINK_PORT, DropHook


def side_options(setup: Setup, name: SideName, ring_bytes: int, io_timeout_s: float) -> list[str]:
    """Return a program's options, without those for control line and perf.

    Options that leave things as they are by default are left out.

    Parameters
    ----------
    ring_bytes
        Size of the ring of messages, all threads together [bytes]; 0 for one message.
    io_timeout_s
        The program's longest wait [s].
    """
    options = {
        **_addresses(setup, name),
        "--threads": setup.cell.n_threads,
        "--msg-bytes": setup.cell.msg_bytes,
        **_pinning(setup, name),
        **_socket_options(setup),
        **(_message_options(setup, ring_bytes) if name == "sender" else {}),
        **(_rate(setup) if name == "sender" else {}),
        "--io-timeout-ms": round(io_timeout_s * 1e3),
    }
    words = [word for option, value in options.items() for word in (option, str(value))]
    return [*words, *_flags(setup, name)]


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


def _pinning(setup: Setup, name: SideName) -> dict[str, str]:
    if not setup.placement.pinned:
        return {}
    return {"--cpus": ",".join(map(str, setup.placement.cpus(name)))}


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


def _message_options(setup: Setup, ring_bytes: int) -> dict[str, str | int]:
    """Return how the sender makes its messages and hands them over."""
    chosen = {
        "--batch": (setup.cell.batch, 1),
        "--ring-bytes": (ring_bytes, 0),
        "--interval-ns": (setup.settings.interval_ns, 0),
    }
    return {option: value for option, (value, usual) in chosen.items() if value != usual}


def _rate(setup: Setup) -> dict[str, int]:
    """Return how fast the sender may be, where the path says how much it carries."""
    limit = setup.testbed.payload_limit(setup.cell.msg_bytes)
    return {} if limit is None else {"--rate": max(1, round(limit))}


def _flags(setup: Setup, name: SideName) -> list[str]:
    if name == "receiver":
        return []
    flags = {"--sink": setup.testbed.drop_hook is not None, "--fresh": setup.settings.fresh}
    return [flag for flag, wanted in flags.items() if wanted]


def settle_sink(hook: DropHook, totals: Sequence[Mapping[str, int]], msg_bytes: int) -> SinkFacts:
    """Return what became of the datagrams of a whole run; its senders have ended.

    Parameters
    ----------
    totals : sequence of mapping
        What each sender counted from the first datagram to the last: `datagrams` and `bytes`.
    msg_bytes : int
        Size of every datagram [bytes]. The hook counts packets, and one packet may hold many
        datagrams (UDP_SEGMENT), so datagrams are counted by their bytes.
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
