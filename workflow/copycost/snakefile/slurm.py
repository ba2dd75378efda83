"""What Slurm says of the nodes of a cluster."""

import math
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from copycost.errors import ConfigError, HostError
from copycost.hosts.parsing import parser_of

_TIMEOUT_S = 30.0
_SINFO = ("sinfo", "--noheader", "--all", "--Node", "--format", "%N|%P|%c|%T|%l|%f")
_SCONTROL = ("scontrol", "show", "node", "--oneliner")

# Slurm begins no job on a node in these states, however long that waits; a node that is busy,
# reserved or switched off is given one in time. The star is of a node that does not respond.
_LOST = re.compile(r"(down|drain|drng|fail|error|inval|unk|future)|.*\*")

# What Snakemake asks for by itself [MB], where a cluster does not say what its nodes have: Slurm
# then takes it for 1 MB.
_MEMORY_UNTOLD_MB = 1000


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a cluster, in its partitions.

    It has so many CPUs, as Slurm counts them; its state is as sinfo calls it, ``idle``, ``down*``,
    ...; a constraint may ask for its features.
    """

    partitions: frozenset[str]
    n_cpus: int
    state: str
    features: frozenset[str]

    @property
    def is_lost(self) -> bool:
        """Whether a job for it would wait until somebody repairs it."""
        return _LOST.match(self.state) is not None


@dataclass(frozen=True, slots=True)
class System:
    """What runs on a node, as it has told Slurm.

    The kernel's name, release and build are empty of a node that has never told; the memory is what
    a job that has the node alone can have [MB].
    """

    kernel: str
    memory_mb: int


def offered(partition: str | None) -> dict[str, Node]:
    """Return the nodes of a partition by name; None for the one that jobs go to by default.

    Raises ConfigError if there is none by default. This and what follows raise HostError if Slurm
    cannot be asked.
    """
    nodes, default, _ = _nodes()
    if partition is None and default is None:
        raise ConfigError(
            "config.yaml: hosts.slurm.partition: got auto, and this cluster has no default "
            "partition, so name one"
        )
    return {name: node for name, node in nodes.items() if (partition or default) in node.partitions}


def time_limit_of(partition: str | None) -> float:
    """Return how long a job in a partition may take [min]; None for the default partition.

    Infinite where there is no limit, or no such partition.
    """
    _, default, limits = _nodes()
    return limits.get(partition or default or "", math.inf)


def node_of(name: str) -> Node:
    """Return a node of any partition; of one that there is not, a node of one CPU."""
    return _nodes()[0].get(name, Node(frozenset(), 1, "unknown", frozenset()))


def system_of(name: str) -> System:
    """Return what runs on a node."""
    return _systems().get(name, System("", _MEMORY_UNTOLD_MB))


# nodes by name, the partition that has no need to be named, and the limits of partitions [min]
_Cluster = tuple[Mapping[str, Node], str | None, Mapping[str, float]]


@cache
def _nodes() -> _Cluster:
    return nodes_in(_answer(*_SINFO))


@cache
def _systems() -> Mapping[str, System]:
    return systems_in(_answer(*_SCONTROL))


@parser_of("sinfo")
def nodes_in(answer: str) -> _Cluster:
    """Return what sinfo says of a cluster."""
    found: dict[str, Node] = {}
    limits: dict[str, float] = {}
    default = None
    for line in answer.splitlines():  # a node has one for each of its partitions
        name, partition, n_cpus, state, limit, features = line.strip().split("|", maxsplit=5)
        if partition.endswith("*"):
            partition = default = partition.removesuffix("*")
        limits[partition] = _minutes(limit)
        has = frozenset(features.split(",")) - {"(null)"}
        node = Node(frozenset({partition}), int(n_cpus.rstrip("+")), state.lower(), has)
        known = found.get(name, node)
        found[name] = replace(node, partitions=node.partitions | known.partitions)
    return found, default, limits


def _minutes(limit: str) -> float:
    """Return a limit of time, ``2-12:00:00``, ``30:00`` or ``infinite``, in minutes."""
    if limit in ("infinite", "n/a"):
        return math.inf
    days, _, rest = limit.rpartition("-")
    *hours, minutes, seconds = map(int, rest.split(":"))
    return 1440 * int(days or 0) + 60 * sum(hours) + minutes + seconds / 60


@parser_of("scontrol show node")
def systems_in(answer: str) -> Mapping[str, System]:
    """Return what runs on each node."""
    found = {}
    for line in answer.splitlines():
        name = re.match(r"NodeName=(\S+)", line)
        if name is None:
            continue
        kernel = re.search(r"\sOS=(.*?)\s+RealMemory=", line)
        memory, reserved = (
            int(of[1]) if (of := re.search(rf"\s{key}=(\d+)", line)) else 0
            for key in ("RealMemory", "MemSpecLimit")
        )
        usable_mb = max(memory - reserved, _MEMORY_UNTOLD_MB)
        found[name[1]] = System(kernel[1].strip() if kernel else "", usable_mb)
    return found


def _answer(*command: str) -> str:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=_TIMEOUT_S
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or error
        raise HostError(
            f"{command[0]} cannot be asked for the nodes ({str(said).strip()}); run this where "
            "Slurm's commands work, or set hosts.where to [local]"
        ) from error
