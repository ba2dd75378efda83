"""The nodes of a cluster: which are to be measured, with how many CPUs, and for how long."""

import math
import re
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache

from copycost.config.config import Config
from copycost.config.extent import n_repetitions
from copycost.config.hosts import Hosts, Slurm
from copycost.errors import ConfigError, HostError
from copycost.snakefile.progress import format_duration
from copycost.wording.plurals import plural

_TIMEOUT_S = 30.0
_OVERHEAD_S = 0.9
"""Of a repetition, beside warm-up and window: a shared file system is slow."""
_FIXED_MIN = 10
"""Of a job: unpacking, building, the memory floor, bringing back."""


def archives_of(hosts: Hosts, pattern: str) -> list[str]:
    """Return the archives of all nodes to be measured; none where no cluster is asked for.

    Parameters
    ----------
    pattern
        Of their paths, with ``{node}``.

    Raises
    ------
    ConfigError, HostError
        If the configuration does not say which, or the cluster does not answer.
    """
    if "slurm" not in hosts.where:
        return []
    return [pattern.format(node=node) for node in chosen_nodes(hosts.slurm)]


def chosen_nodes(slurm: Slurm) -> list[str]:
    """Return the nodes to measure: those named, else as many as wanted, by name.

    Raises
    ------
    ConfigError
        If neither says any, or the cluster has too few.
    """
    known = offered(slurm.partition)
    if slurm.nodes:
        missing = [name for name in slurm.nodes if name not in known]
        if missing:
            raise ConfigError(
                f"config.yaml: hosts.slurm.nodes: {', '.join(missing)} not among what sinfo shows "
                f"({', '.join(sorted(known)) or 'nothing'})"
            )
        return list(slurm.nodes)
    if not slurm.count:
        raise ConfigError(
            "config.yaml: hosts.slurm: name nodes, or say in count how many there shall be"
        )
    fitting = sorted(name for name, (_, has) in known.items() if fits(slurm.constraint, has))
    if len(fitting) < slurm.count:
        raise ConfigError(
            f"config.yaml: hosts.slurm.count: {slurm.count} nodes are wanted, and sinfo shows "
            f"{len(fitting)} that fit ({', '.join(fitting) or 'none'})"
        )
    return fitting[: slurm.count]


def fits(constraint: str | None, features: frozenset[str]) -> bool:
    """Tell whether a node's features meet a constraint of ``&`` and ``|``; & binds closer."""
    return constraint is None or any(
        all(feature in features for feature in every.split("&")) for every in constraint.split("|")
    )


def host_name(node: str) -> str:
    """Return what a node is called among the hosts of a fleet."""
    return re.sub(r"[^a-z0-9]+", "-", node.lower()).strip("-")[:40]


def n_cpus(node: str) -> int:
    """Return all CPUs of a node, as Slurm counts them [count]."""
    return offered(None).get(node, (1, frozenset()))[0]


@cache
def offered(partition: str | None) -> Mapping[str, tuple[int, frozenset[str]]]:
    """Return the nodes of a partition, or of all: CPUs [count] and features of each.

    Raises
    ------
    HostError
        If sinfo cannot be asked.
    """
    command = ["sinfo", "--noheader", "--Node", "--format", "%N %c %f"]
    try:
        done = subprocess.run(
            [*command, *(["--partition", partition] if partition else [])],
            capture_output=True, text=True, check=True, timeout=_TIMEOUT_S,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or error
        raise HostError(
            f"sinfo cannot be asked for the nodes ({str(said).strip()}); run this where Slurm's "
            "commands work, or set hosts.where to [local]"
        ) from error
    found = {}
    for line in done.stdout.splitlines():
        name, cpus, features = line.split(maxsplit=2)
        found[name] = (int(cpus.rstrip("+")), frozenset(features.split(",")) - {"(null)"})
    return found


def job_minutes(config: Config) -> int:
    """Return the limit of a node's job [min]: twice what its repetitions take, and a little."""
    return _FIXED_MIN + math.ceil(2.0 * _seconds(config) / 60.0)


def said_of_nodes(config: Config, nodes: Sequence[str], limit_min: int, *, would: bool) -> str:
    """Return a sentence about what nodes are measured, and what that takes of each.

    Parameters
    ----------
    limit_min
        That of each job [min].
    would
        Whether that is what a run would do, not what this one does.
    """
    verb = "would measure" if would else "measures"
    return (
        f"copycost: {'a run' if would else 'this'} {verb} {plural(len(nodes), 'node')} "
        f"({', '.join(nodes)}), each by one job that has it alone, with all its CPUs, for about "
        f"{format_duration(_seconds(config))} and {limit_min} min at most; docs/cluster.md says "
        "what it does there."
    )


def _seconds(config: Config) -> float:
    """Return how long the repetitions of a node take, about [s]."""
    measure = config.measure
    each_s = measure.warmup_s + measure.duration_s + _OVERHEAD_S
    seconds = sum(n_repetitions(config).values()) * each_s
    if measure.minutes is not None:
        seconds = max(seconds, measure.minutes * 60.0)
    if config.refine.enabled:
        seconds += config.refine.max_minutes * 60.0
    return seconds
