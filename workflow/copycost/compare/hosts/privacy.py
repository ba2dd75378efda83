"""What of a host's results is nobody else's business, and is left out when they are handed on.

So is what it calls itself: hosts have names that people choose.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from copycost.config.testbeds import kind_of, peer_of
from copycost.config.wire import NO_PEER, Peer
from copycost.errors import ConfigError

_T = TypeVar("_T")

_LEFT_OUT = frozenset({
    "path", "addresses", "bind_address", "connect_address", "port", "hostname", "nodename", "user",
})  # fmt: skip
"""Keys whose values are left out wherever they stand."""

_MACHINE = "(name)"
_LEFT_AT_HOME = "(not handed on)"

_HASHED = frozenset({"boot_id", "kernel_version"})
"""Keys whose values need only stay different from one another, as all of a host's identity."""

_WORD = re.compile(rf"[a-z0-9_,:+-]{{1,100}}|\d+(?:\.\d+)?[kKMG]i?B|{re.escape(_LEFT_AT_HOME)}")
_WORDS = frozenset({
    "accelerator", "call_graph", "code", "congestion", "congestion_allowed", "congestion_available",
    "congestion_control", "congestion_default", "cpus_allowed", "cpus_online", "event", "fault",
    "governor", "implementation", "implementations", "isolation", "kind", "limiter", "machine",
    "minutes", "mode", "msg_bytes", "network_device", "nodelay", "placement", "placements",
    "preempt", "program", "receive_buffer_bytes", "receiver", "receiver_kind", "receivers",
    "send_buffer_bytes", "sender", "senders", "sides", "status", "strategy", "study", "tcp_nodelay",
    "testbed", "testbeds", "transport", "udp_rate", "working_set", "working_sets",
})  # fmt: skip
"""Keys whose values are words of copycost's own or of the kernel's, sizes or times."""

_DIGESTS = (
    "capabilities", "commit", "facts_digest", "host_digest", "sha256", "source_digest",
)  # fmt: skip
_TOLD = {
    **dict.fromkeys(_DIGESTS, re.compile(r"[0-9a-f]{7,64}")),
    **dict.fromkeys(("kernel_release", "release"), re.compile(r"[\w.+~-]{1,80}")),
    **dict.fromkeys(
        ("cpu_model", "model", "vendor", "virtualisation"),
        re.compile(r"[\w .()+,-]{0,80}(?:@ ?[\d.]+ ?GHz)?"),
    ),
    "started_at": re.compile(r"[\d-]{10}T[\d:.+-]{8,30}Z?"),
    "perf_name": re.compile(r"[\w:.-]+(?:/[\w:.,=-]*/\w*)?"),  # cpu_core/cycles/u
    "compiler": re.compile(r"(?:gcc|clang) [\d.]+"),
    "flags": re.compile(r"(?:-[\w=.+-]+ ?)*"),
    "name": re.compile(rf"programs|iperf3|this host|guest \w|{re.escape(_MACHINE)}"),
}
"""Keys whose values tell what was measured on, each with what it may look like."""

_VERSION = re.compile(r"\d+(?:\.\d+)*")
"""What is handed on of a key `version`."""

LEFT_OUT_IN_WORDS = "the names of hosts and users, free texts, paths, addresses and ports"

SECTIONS = (
    "streams", "udp", "round_trips", "placement", "measure", "statistics",
)  # fmt: skip
"""Of the configuration, what was measured and how: all else, such as how ssh reaches another
machine, or what the nodes of a cluster are called, is nobody else's business."""


def peers_of(config: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what other machines that a run measured with are called, as ssh is told it."""
    wire = config.get("wire")
    sections = [wire, *(wire.get("more") or ())] if isinstance(wire, Mapping) else []
    found = [one.get("peer") for one in sections if isinstance(one, Mapping)]
    for record in records:
        machines = (record["testbed"] or {}).get("machines") or {}
        found += [one["name"] for one in machines.values() if one["kind"] == "ssh"]
    told = (name for name in found if isinstance(name, str) and name not in (NO_PEER, _MACHINE))
    return list(dict.fromkeys(told))


def without_private(value: _T, peers: Sequence[str] = ()) -> _T:
    """Return facts or a record without what is private; shapes stay as the schemas have them.

    Peers are other machines, as ssh is told them. A testbed that is called by such a name, since
    nobody has given it another, is called ``wire-other``, ``wire-other-2`` and so on.
    """
    others = {
        Peer(name).name: f"other-{number}" if number > 1 else "other"
        for number, name in enumerate(peers, 1)
    }
    return cast("_T", _cleaned("", value, others))


def _cleaned(key: str, value: object, others: Mapping[str, str]) -> object:
    if key in _LEFT_OUT and not isinstance(value, Mapping):
        return [] if isinstance(value, list) else None
    if isinstance(value, Mapping):
        if value.get("kind") == "ssh" and "facts_digest" in value:
            value = {**value, "name": _MACHINE}  # of a machine: maybe user and host
        return {
            name: _cleaned(name, item, others)
            if key != "identity" or name in _TOLD or not isinstance(item, str)
            else _hashed(item)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [_cleaned(key, item, others) for item in value]
    if not isinstance(value, str):
        return value
    if key in _HASHED:
        return _hashed(value)
    if key == "version":
        number = _VERSION.search(value)
        return number[0] if number else _LEFT_AT_HOME
    if (peer := peer_of(value)) in others:
        return f"{kind_of(value)}-{others[str(peer)]}"
    allowed = _WORD if key in _WORDS else _TOLD.get(key)
    return value if allowed is not None and allowed.fullmatch(value) else _LEFT_AT_HOME


def _hashed(value: str) -> str:
    is_hashed = re.fullmatch(r"[0-9a-f]{64}", value)
    return value if is_hashed else hashlib.sha256(value.encode()).hexdigest()


RULE = "1 to 40 small letters, digits and hyphens, such as lab-amd-2"
_HOST_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_LONGEST_NAME = 40


def require_name(name: str, where: str) -> str:
    """Return the name of a host, if it can be one."""
    if not _HOST_NAME.fullmatch(name):
        raise ConfigError(f"{where}: {shown(name)!r} names no host; expected {RULE}")
    return name


def fitting_name(text: str) -> str:
    """Return a text made to fit the rule of names; empty where nothing of it does."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST_NAME].rstrip("-")


def name_of(identity: Mapping[str, Any]) -> str:
    """Return a name for a host that nobody has named, the same as long as its identity is."""
    text = json.dumps(identity, sort_keys=True)
    return f"host-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def shown(text: str, most: int = 80) -> str:
    """Return a foreign text as a terminal may have it: no control characters, and not for ever."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text)
    return plain if len(plain) <= most else f"{plain[: most - 3]}..."
