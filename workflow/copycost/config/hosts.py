"""The section of the configuration that says which hosts there are, and what this one is called."""

from dataclasses import dataclass
from typing import Literal

Place = Literal["local", "slurm"]


@dataclass(frozen=True, slots=True)
class Slurm:
    """Nodes of a cluster that ``./run fleet`` measures.

    Attributes
    ----------
    partition, constraint
        As Slurm's options of that name; None for its default, and for none.
    nodes
        Names of nodes; without any, `count` of those that Slurm offers.
    count
        Nodes to choose where none is named [count].
    """

    partition: str | None
    nodes: tuple[str, ...]
    count: int
    constraint: str | None


@dataclass(frozen=True, slots=True)
class Hosts:
    """Which hosts ``./run fleet`` is about.

    Attributes
    ----------
    alias
        What this host is called where its results are handed on; None for a name made of what it
        is.
    where
        This machine (``local``), nodes of a cluster (``slurm``), or both.
    slurm
        Which nodes.
    """

    alias: str | None
    where: tuple[Place, ...]
    slurm: Slurm
