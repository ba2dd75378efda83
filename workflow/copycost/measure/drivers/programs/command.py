"""What the programs are started with: their options, and a ring of messages that has room.

A sender that sends one message again and again (hot) finds its bytes in the caches, which is the
best case of copying. One that walks a ring of messages larger than the last-level cache (cold)
reads them from memory, as an application does that sends what it has not just touched.
"""

from collections.abc import Mapping
from typing import Any

from copycost.config.conditions import COLD, HOT
from copycost.errors import Unavailable
from copycost.hosts.facts.kernel import require_memory
from copycost.hosts.host import Host
from copycost.hosts.side import SideName
from copycost.hosts.testbeds.drop_hook import SINK_PORT
from copycost.measure.drivers.protocol import Setup
from copycost.wording.numbers import approximate_size, format_size

SLOWEST_FILL_BYTES_PER_S = 64 << 20
"""How fast a busy host makes the pages of a ring, at least."""

# how many times a last-level cache the cold rings are together of the threads that use it at once:
# after one round, nothing of them is left there
_TIMES_LLC = 4
# a cold ring where the host does not tell its caches [bytes]
_UNKNOWN_LLC_RING_BYTES = 256 << 20
# a message is so many fields; those of a page or more begin at pages (src/messages/message.h)
_FIELDS = 8
# before each field malloc keeps a header, which takes the page before an aligned one [bytes]
_HEAP_HEADER_BYTES = 16
# this strategy keeps the messages in a file in memory as well
_KEEPS_A_COPY = "sendfile"
# messages that a sender holds in flight per thread, at least, however large they are
_MESSAGES_IN_FLIGHT = 4
# a ring that was given as a size is at most so many times that: it grows to the messages that must
# exist at once
_MOST_TIMES_ASKED = 2


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


def ring_bytes(
    working_set: str, host: Mapping[str, Any], n_threads: int = 1, n_at_once: int = 1
) -> int:
    """Return the size of the ring of messages, all threads together [bytes]; 0 if it is hot.

    Each thread walks its share. One that waits for its CPU does not walk, and while another does
    for milliseconds, it goes round a share of a few MiB again and again, in the caches. So a cold
    ring grows with the threads, apart from those, `n_at_once` at least, that run at once and fill
    the same last-level cache together; the host facts say how large that is.
    """
    if working_set == HOT:
        return 0
    if working_set == COLD:
        llc_bytes = host["cpu"]["caches"]["llc_bytes"]
        at_once_bytes = _TIMES_LLC * int(llc_bytes) if llc_bytes else _UNKNOWN_LLC_RING_BYTES
        return at_once_bytes * n_threads // n_at_once
    return int(working_set)


def check_ring(working_set: str, walked_bytes: int, implementation: str) -> None:
    """Refuse, as unavailable, a ring much larger than the size that names the working set.

    It is as large as the messages that the sender must have at once; hot and cold name no size.
    """
    if working_set in (HOT, COLD) or walked_bytes <= _MOST_TIMES_ASKED * int(working_set):
        return
    raise Unavailable(
        f"{implementation} had to have {approximate_size(walked_bytes)} of messages at once, which"
        f" is no working set of {approximate_size(int(working_set))}",
        "ask for a larger working set in config.yaml, smaller messages or fewer threads",
    )


def check_memory(host: Host, ring: int, msg_bytes: int, n_threads: int, strategy: str) -> None:
    """Refuse messages that have no room in memory, before the kernel has to kill somebody.

    The ring is of all threads together [bytes]; each holds a few messages, however small it is.
    """
    in_flight_bytes = n_threads * _MESSAGES_IN_FLIGHT * msg_bytes
    if ring >= in_flight_bytes:
        what = f"the messages of a ring of {approximate_size(ring)}"
        remedy = (
            "ask for a smaller working set or fewer threads in config.yaml, or stop what holds the"
            " memory"
        )
    else:
        what = f"the messages of {format_size(msg_bytes)} that {n_threads} threads hold"
        remedy = "ask for fewer threads or smaller messages, or stop what holds the memory"
    page_bytes = host.constant("SC_PAGE_SIZE")
    messages_bytes = need_bytes = max(ring, in_flight_bytes)
    field_bytes = msg_bytes // _FIELDS
    if field_bytes >= page_bytes:
        pages_per_field = -(-(field_bytes + _HEAP_HEADER_BYTES) // page_bytes)
        need_bytes = messages_bytes * pages_per_field * page_bytes // field_bytes
    if strategy == _KEEPS_A_COPY:
        need_bytes += messages_bytes
    require_memory(host.files, need_bytes, what, remedy)
