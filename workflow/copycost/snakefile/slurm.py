"""The nodes of a cluster, as Slurm knows them: which are to be measured, and for how long."""

import math
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from copycost.config.config import Config, Hosts, Slurm
from copycost.config.grid import Grid
from copycost.errors import ConfigError, HostError
from copycost.hosts.parsing import parser_of
from copycost.snakefile.progress import format_duration
from copycost.wording.words import plural

_TIMEOUT_S = 30.0
_SINFO = ("sinfo", "--noheader", "--all", "--Node", "--format", "%N|%P|%c|%T|%l|%f")
_SCONTROL = ("scontrol", "show", "node", "--oneliner")

_OVERHEAD_S = 0.9
"""Of a repetition, beside warm-up and window: a shared file system is slow."""
_FIXED_MIN = 10
"""Of a job: unpacking, building, the memory floor, bringing back."""

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
    ...; a constraint may ask for its features. Of what runs there it has told Slurm the kernel's
    name, release and build, empty if it never has; the memory is what a job that has the node alone
    can have [MB].
    """

    partitions: frozenset[str]
    n_cpus: int
    state: str
    features: frozenset[str]
    kernel: str = ""
    memory_mb: int = _MEMORY_UNTOLD_MB

    @property
    def is_lost(self) -> bool:
        """Whether a job for it would wait until somebody repairs it."""
        return _LOST.match(self.state) is not None

    def fits(self, constraint: str | None) -> bool:
        """Tell whether its features meet a constraint of ``&`` and ``|``; & binds closer."""
        return constraint is None or any(
            self.features.issuperset(every.split("&")) for every in constraint.split("|")
        )


@dataclass(frozen=True, slots=True)
class Cluster:
    """Nodes by name, the partition that has no need to be named, and limits of partitions [min]."""

    nodes: Mapping[str, Node]
    default: str | None
    limits_min: Mapping[str, float]


@cache
def cluster() -> Cluster:
    """Return the cluster, as Slurm knows it; HostError if it cannot be asked."""
    found = cluster_in(_answer(*_SINFO))
    nodes = dict(found.nodes)
    for name, (kernel, memory_mb) in systems_in(_answer(*_SCONTROL)).items():
        if name in nodes:
            nodes[name] = replace(nodes[name], kernel=kernel, memory_mb=memory_mb)
    return replace(found, nodes=nodes)


def offered(partition: str | None) -> dict[str, Node]:
    """Return the nodes of a partition by name; None for the one that jobs go to by default.

    Raises ConfigError if there is none by default.
    """
    wanted = partition or cluster().default
    if wanted is None:
        raise ConfigError(
            "config.yaml: hosts.slurm.partition: got auto, and this cluster has no default "
            "partition, so name one"
        )
    return {name: node for name, node in cluster().nodes.items() if wanted in node.partitions}


def time_limit_of(partition: str | None) -> float:
    """Return how long a job in a partition may take [min]; None for the default partition.

    Infinite where there is no limit, or no such partition.
    """
    return cluster().limits_min.get(partition or cluster().default or "", math.inf)


def node_of(name: str) -> Node:
    """Return a node of any partition; of one that there is not, a node of one CPU."""
    return cluster().nodes.get(name, Node(frozenset(), 1, "unknown", frozenset()))


@parser_of("sinfo")
def cluster_in(answer: str) -> Cluster:
    """Return what sinfo says of a cluster."""
    found: dict[str, Node] = {}
    limits_min: dict[str, float] = {}
    default = None
    for line in answer.splitlines():  # a node has one for each of its partitions
        name, partition, n_cpus, state, limit, features = line.strip().split("|", maxsplit=5)
        if partition.endswith("*"):
            partition = default = partition.removesuffix("*")
        limits_min[partition] = _minutes(limit)
        has = frozenset(features.split(",")) - {"(null)"}
        node = Node(frozenset({partition}), int(n_cpus.rstrip("+")), state.lower(), has)
        known = found.get(name, node)
        found[name] = replace(node, partitions=node.partitions | known.partitions)
    return Cluster(found, default, limits_min)


def _minutes(limit: str) -> float:
    """Return a limit of time, ``2-12:00:00``, ``30:00`` or ``infinite``, in minutes."""
    if limit in ("infinite", "n/a"):
        return math.inf
    days, _, rest = limit.rpartition("-")
    *hours, minutes, seconds = map(int, rest.split(":"))
    return 1440 * int(days or 0) + 60 * sum(hours) + minutes + seconds / 60


@parser_of("scontrol show node")
def systems_in(answer: str) -> Mapping[str, tuple[str, int]]:
    """Return what runs on each node: kernel, and memory [MB]."""
    found = {}
    for line in answer.splitlines():
        if name := re.match(r"NodeName=(\S+)", line):
            kernel = re.search(r"\sOS=(.*?)\s+RealMemory=", line)
            memory, reserved = (
                int(of[1]) if (of := re.search(rf"\s{key}=(\d+)", line)) else 0
                for key in ("RealMemory", "MemSpecLimit")
            )
            usable_mb = max(memory - reserved, _MEMORY_UNTOLD_MB)
            found[name[1]] = (kernel[1].strip() if kernel else "", usable_mb)
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


def in_site_partition(hosts: Hosts, defaults: Mapping[str, Any]) -> Hosts:
    """Return hosts in the partition that a site's own profile names, unless they name one.

    The defaults are Snakemake's, which a profile or ``--default-resources`` gives.
    """
    stated = defaults.get("slurm_partition")
    partition = getattr(stated, "raw", stated)  # as it was written there
    if hosts.slurm.partition or not isinstance(partition, str):
        return hosts
    return replace(hosts, slurm=replace(hosts.slurm, partition=partition))


def chosen_nodes(hosts: Hosts) -> list[str]:
    """Return the nodes to measure: those named, else those that fit, as many as wanted, by name.

    None where no cluster is asked for. Nodes on which no job would begin are not chosen; where they
    are named, it waits for them.

    Raises ConfigError if nothing says which, or the cluster has too few.
    """
    if "slurm" not in hosts.where:
        return []
    slurm = hosts.slurm
    known = offered(slurm.partition)
    fitting = sorted(name for name, node in known.items() if node.fits(slurm.constraint))
    usable = [name for name in fitting if not known[name].is_lost]
    chosen = list(slurm.nodes) or usable[: slurm.count or None]
    for refusal in _refusals(slurm, sorted(known), fitting, usable, chosen):
        raise ConfigError(f"config.yaml: hosts.slurm{refusal}")
    return chosen


def _refusals(
    slurm: Slurm,
    known: Sequence[str],
    fitting: Sequence[str],
    usable: Sequence[str],
    chosen: Sequence[str],
) -> Iterator[str]:
    """Yield keys that cannot be met, each with why, as the end of a sentence."""
    if missing := [name for name in slurm.nodes if name not in known]:
        yield (
            f".nodes: {', '.join(missing)} not among what sinfo shows "
            f"of {slurm.partition or 'the default partition'} "
            f"({', '.join(known) or 'nothing'})"
        )
    if unfit := [name for name in slurm.nodes if name not in fitting]:
        yield (
            f".nodes: {', '.join(unfit)} without the features of constraint, {slurm.constraint}; "
            "leave out these nodes, or set constraint to none"
        )
    if not slurm.nodes and not slurm.count and slurm.constraint is None:
        yield (
            ": name nodes, say in count how many there shall be, or in constraint which features "
            "they must have"
        )
    if not slurm.nodes and slurm.count > len(usable):
        yield (
            f".count: got {slurm.count}, must be <= {len(usable)}, the nodes that fit and can be "
            f"used, as sinfo shows them ({', '.join(usable) or 'none'})"
        )
    if not chosen:
        yield (
            f".constraint: got {slurm.constraint}, must be features of nodes that can be used, and "
            "sinfo shows none with these"
        )
    by_name: dict[str, str] = {}
    for node in chosen:
        name = host_name(node)
        if (other := by_name.setdefault(name, node)) != node:
            both = f"{other} and {node} would both be called {name} among the hosts"
            yield f": {both}; measure them from two clones"


def host_name(node: str) -> str:
    """Return what a node is called among the hosts of a fleet."""
    return re.sub(r"[^a-z0-9]+", "-", node.lower()).strip("-")[:40].rstrip("-")


def job_minutes(config: Config, most: float = math.inf) -> int:
    """Return the limit of a node's job [min]: twice what its repetitions take, and a little.

    At most what the partition allows a job, `most`: Slurm would never begin one that asks for more.
    """
    return int(min(_FIXED_MIN + math.ceil(2.0 * _seconds(config) / 60.0), most))


def said_of_nodes(config: Config, nodes: Sequence[str], limit_min: int, *, would: bool) -> str:
    """Return a sentence about what nodes are measured, or would be, and what that takes of each."""
    verb = "would measure" if would else "measures"
    said = (
        f"copycost: {'a run' if would else 'this'} {verb} {plural(len(nodes), 'node')} "
        f"({', '.join(nodes)}), each by one job that has it alone, with all its CPUs, for about "
        f"{format_duration(_seconds(config))} and {limit_min} min at most; docs/cluster.md says "
        "what it does there."
    )
    if _seconds(config) / 60.0 + _FIXED_MIN > limit_min:
        said += (
            " That limit may end a job before it is through: what was measured by then is brought "
            "back, and the same command goes on."
        )
    lost = [f"{name} ({node.state})" for name in nodes if (node := node_of(name)).is_lost]
    if lost:
        said += f" Slurm begins no job now on {', '.join(lost)}; one waits until its node is back."
    return said


def _seconds(config: Config) -> float:
    """Return how long the repetitions of a node take, about [s]: of the target `measure`."""
    measure = config.measure
    each_s = 2 * (measure.warmup_s + measure.duration_s) + _OVERHEAD_S
    seconds = Grid.of(config).n_repetitions(config) * each_s
    return seconds if measure.minutes is None else max(seconds, measure.minutes * 60.0)
