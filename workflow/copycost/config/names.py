"""Which testbeds, receivers and placements the configuration may name, as far as it has them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from copycost.config import simulated
from copycost.config.capabilities import RECEIVERS
from copycost.config.placements import PLACEMENTS
from copycost.config.testbeds import TESTBEDS, WIRES, names_over, over_wire_to
from copycost.config.variants import PLAIN, VARIANTS

_MOST_ITEMS = 100
_SIZE = r"^[0-9]{1,20} *(B|KiB|MiB|GiB)?$"


def testbeds_for(section: str) -> tuple[str, ...]:
    """Return the testbeds that a section may name, in the order of their table."""
    if section == "simulated":
        return simulated.TESTBEDS
    if section == "profile":
        return tuple(TESTBEDS)
    if section == "udp":
        # our receiver needs an address of its own
        return tuple(name for name in names_over("datagram") if TESTBEDS[name].own_addresses)
    return names_over("datagram" if section == "datagrams" else "stream", receiving=True)


def with_peers(testbeds: Iterable[str], peers: Sequence[str]) -> tuple[str, ...]:
    """Return a list of testbeds with one per peer in the place of each over a wire."""
    return tuple(dict.fromkeys(_with_peers(testbeds, peers)))


def _with_peers(testbeds: Iterable[str], peers: Sequence[str]) -> Iterator[str]:
    for name in testbeds:
        if name in WIRES:
            yield from (over_wire_to(name, peer) for peer in peers)
        else:
            yield name


def with_names(schema: Mapping[str, Any], peers: Sequence[str]) -> dict[str, Any]:
    """Return the schema with what holds everywhere, and the names that it may use, filled in.

    Testbeds over a wire may be listed with the names of other machines, too.
    """
    filled = deepcopy(dict(schema))
    _close(filled)
    for section, node in filled["properties"].items():
        if "testbeds" in node.get("properties", {}):
            names = testbeds_for(section)
            wires = [name for name in names if name in WIRES]
            testbeds = deepcopy(filled["$defs"]["testbeds"])
            testbeds["items"]["enum"] = [*names, *with_peers(wires, peers)]
            node["properties"]["testbeds"] = testbeds
    variants = filled["properties"]["simulated"]["properties"]["sensitivity"]["properties"]
    variants["variants"]["items"]["enum"] = [name for name in VARIANTS if name != PLAIN]
    filled["$defs"]["receivers"]["items"]["enum"] = list(RECEIVERS)
    filled["$defs"]["placements"]["items"]["enum"] = list(PLACEMENTS)
    return filled


def _close(node: Any) -> None:  # noqa: ANN401 - any node of a schema
    """Let sections have their own keys only, and all of them, and lists an end."""
    if isinstance(node, list):
        for below in node:
            _close(below)
    elif isinstance(node, dict):
        if "properties" in node:
            node |= {"type": "object", "additionalProperties": False}
            node.setdefault("required", list(node["properties"]))
        if "items" in node:
            node |= {"type": "array", "maxItems": _MOST_ITEMS} | node
        if node.get("format") == "size":
            node |= {"type": ["integer", "string"], "pattern": _SIZE}
        for below in list(node.values()):
            _close(below)
