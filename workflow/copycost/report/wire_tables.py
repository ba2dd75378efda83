"""What the chapter on the wire says of both ends, of limits and of losses."""

from collections.abc import Callable, Iterable, Sequence

from copycost.config.testbeds import transport_of
from copycost.hosts.facts.kernel import is_virtual
from copycost.wording.filters import join_and, ns
from copycost.wording.markdown import Table, code, escape, identifier
from copycost.wording.values import NONE, Facts
from copycost.wording.words import plural

_CAUSES = {
    "device_rx_errors": "received damaged or refused by the device",
    "device_rx_dropped": "not taken from the device in time",
    "device_rx_fifo_errors": "that arrived while the device had no room",
    "device_tx_errors": "that the device could not send",
    "device_tx_dropped": "dropped before reaching the device",
    "device_tx_fifo_errors": "to be sent while the device had no room",
    "device_tx_carrier_errors": "to be sent while there was no link",
    "softnet_dropped": "dropped by a queue of the kernel",
}
_UNKNOWN = "not reported"
_RUNS = {True: "runs", False: "does not run", None: _UNKNOWN}
_STATES = {True: "on", False: "off", None: _UNKNOWN}


def dropped(drops: Iterable[Facts]) -> str:
    """Return what was dropped: ``12 packets not taken from the device in time``."""
    return join_and(
        f"{plural(drop['packets'], 'packet')} {_CAUSES[drop['cause']]}" for drop in drops
    )


def heading(condition: Facts) -> str:
    """Return the heading of a condition's section."""
    other = code(condition["peer"]) if condition["peer"] else "the other machine"
    ends = ("this machine", other) if condition["sends"] == "here" else (other, "this machine")
    how = "" if transport_of(condition["testbed"]) == "stream" else ", UDP"
    how += ", dropped on arrival" if condition["sender_only"] else ""
    return f"From {ends[0]} to {ends[1]}{how}"


def trips_on(facts: Facts, condition: Facts) -> list[Facts]:
    """Return the round trips under a condition, none or one."""
    trips = facts.get("round_trips")
    found = trips["conditions"] if trips else []
    return [one for one in found if one["slug"] == condition["slug"] and one["rows"]]


def ends_identifier(wire: Facts, peer: Facts) -> str:
    """Return the id of the table of a peer's ends; the first one's has no name."""
    first = peer["name"] == wire["peers"][0]["name"]
    return "tbl-wire-ends" if first else identifier("tbl-wire-ends", peer["name"])


def ends_references(wire: Facts) -> list[str]:
    """Return the references to the tables of both ends, one per peer."""
    return [f"@{ends_identifier(wire, peer)}" for peer in wire["peers"]]


def ends(host: Facts, peer: Facts) -> Table:
    """Return what is known of both ends of the network, this machine's first."""
    name = code(peer["name"]) if peer["name"] else "The other machine"
    columns = ["Property", "This machine", name]
    both = ((host, peer["here"]), (peer, peer["there"]))
    rows = [[title, *(form(machine, device) for machine, device in both)] for title, form in _ENDS]
    clock = peer["clock"]
    apart = f"known to within {ns(clock['uncertainty_ns'])}"
    return columns, [*rows, ["Clock, compared with this machine's", NONE, apart]]


def _known(value: object) -> str:
    return _UNKNOWN if value is None else escape(value)


def _speed(device: Facts) -> str:
    speed = device["speed_mbit_per_s"]
    return _UNKNOWN if speed is None else f"{speed / 1e3:g} Gbit/s"


def _device(device: Facts) -> str:
    driver = device["driver"]
    if driver is None:
        kind = f"virtual ({device['kind'] or 'kind not reported'})"
    else:
        kind = f"{'virtual, ' if is_virtual(driver) else ''}driver {code(driver)}"
    return f"{code(device['device'])}, {kind}"


def _queues(device: Facts) -> str:
    if device["rx_queues"] is None and device["tx_queues"] is None:
        return _UNKNOWN
    return f"{_known(device['rx_queues'])} to receive, {_known(device['tx_queues'])} to send"


def _served(device: Facts) -> str:
    """Return the CPUs of all interrupts of a device: most have a CPU each."""
    return join_and(dict.fromkeys(map(escape, device["interrupt_cpus"].values()))) or _UNKNOWN


_ENDS: Sequence[tuple[str, Callable[[Facts, Facts], str]]] = (
    ("Processor", lambda machine, _: _known(machine["cpu"]["model"])),
    ("CPUs", lambda machine, _: _known(machine["cpu"]["cpus_online"])),
    ("Virtualisation", lambda machine, _: escape(machine["cpu"]["virtualisation"] or "none found")),
    ("Frequency governor", lambda machine, _: _known(machine["cpu"]["governor"])),
    ("Kernel", lambda machine, _: f"Linux {escape(machine['kernel']['release'])}"),
    ("Network device", lambda _, device: _device(device)),
    ("Link speed", lambda _, device: _speed(device)),
    ("MTU", lambda _, device: f"{_known(device['mtu_bytes'])} bytes"),
    ("Queues", lambda _, device: _queues(device)),
    ("CPUs that may serve their interrupts", lambda _, device: _served(device)),
    ("irqbalance", lambda _, device: _RUNS[device["irqbalance"]]),
    ("Scatter-gather, which zero-copy needs", lambda _, device: _STATES[device["scatter_gather"]]),
    ("Checksum offload, likewise", lambda _, device: _STATES[device["tx_checksum"]]),
)
