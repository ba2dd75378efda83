"""The nodes of a cluster: which are to be measured, with how many CPUs, and for how long."""

import math
import re
from collections.abc import Mapping, Sequence

from copycost.config.config import Config, Hosts, Slurm
from copycost.config.grid import Grid
from copycost.errors import ConfigError
from copycost.snakefile.progress import format_duration
from copycost.snakefile.slurm import Node, node_of, offered
from copycost.wording.words import plural

_OVERHEAD_S = 0.9
"""Of a repetition, beside warm-up and window: a shared file system is slow."""
_FIXED_MIN = 10
"""Of a job: unpacking, building, the memory floor, bringing back."""


def archives_of(hosts: Hosts, pattern: str) -> list[str]:
    """Return the archives of all nodes to be measured; none where no cluster is asked for.

    Raises ConfigError or HostError if the configuration does not say which, or the cluster does not
    answer.
    """
    if "slurm" not in hosts.where:
        return []
    return [pattern.format(node=node) for node in chosen_nodes(hosts.slurm)]


def chosen_nodes(slurm: Slurm) -> list[str]:
    """Return the nodes to measure: those named, else those that fit, as many as wanted, by name.

    Nodes on which no job would begin are not chosen; where they are named, it waits for them.

    Raises ConfigError if nothing says which, or the cluster has too few.
    """
    known = offered(slurm.named_partition)
    fitting = sorted(name for name, node in known.items() if fits(slurm.constraint, node.features))
    usable = [name for name in fitting if not known[name].is_lost]
    chosen = list(slurm.nodes) or usable[: slurm.count or None]
    refusal = _refusal(slurm, known, fitting, usable) or _of_one_name(chosen)
    if refusal is not None:
        raise ConfigError(f"config.yaml: hosts.slurm{refusal}")
    return chosen


def _refusal(
    slurm: Slurm, known: Mapping[str, Node], fitting: Sequence[str], usable: Sequence[str]
) -> str | None:
    """Return the key that cannot be met, and why, as the end of a sentence; else None."""
    missing = [name for name in slurm.nodes if name not in known]
    unfit = [name for name in slurm.nodes if name not in fitting]
    if missing:
        return (
            f".nodes: {', '.join(missing)} not among what sinfo shows "
            f"of {slurm.named_partition or 'the default partition'} "
            f"({', '.join(sorted(known)) or 'nothing'})"
        )
    if unfit:
        return (
            f".nodes: {', '.join(unfit)} without the features of constraint, {slurm.constraint}; "
            "leave out these nodes, or set constraint to none"
        )
    if slurm.nodes:
        return None
    if not slurm.count and slurm.constraint is None:
        return (
            ": name nodes, say in count how many there shall be, or in constraint which features "
            "they must have"
        )
    if slurm.count > len(usable):
        return (
            f".count: got {slurm.count}, must be <= {len(usable)}, the nodes that fit and can be "
            f"used, as sinfo shows them ({', '.join(usable) or 'none'})"
        )
    if not usable:
        return (
            f".constraint: got {slurm.constraint}, must be features of nodes that can be used, and "
            "sinfo shows none with these"
        )
    return None


def _of_one_name(nodes: Sequence[str]) -> str | None:
    """Return that two nodes' results would be taken for those of one host, if so."""
    by_name: dict[str, str] = {}
    for node in nodes:
        name = host_name(node)
        if (other := by_name.setdefault(name, node)) != node:
            both = f"{other} and {node} would both be called {name} among the hosts"
            return f": {both}; measure them from two clones"
    return None


def fits(constraint: str | None, features: frozenset[str]) -> bool:
    """Tell whether a node's features meet a constraint of ``&`` and ``|``; & binds closer."""
    return constraint is None or any(
        all(feature in features for feature in every.split("&")) for every in constraint.split("|")
    )


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
