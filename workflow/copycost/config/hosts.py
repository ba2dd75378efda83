"""The section of the configuration that says which hosts there are, and what this one is called."""

from dataclasses import dataclass
from typing import Literal

Place = Literal["local", "slurm"]


@dataclass(frozen=True, slots=True)
class Slurm:
    """Nodes of a cluster that ``./run fleet`` measures."""

    partition: str | None
    nodes: tuple[str, ...]
    count: int
    constraint: str | None


@dataclass(frozen=True, slots=True)
class Hosts:
    """Which hosts ``./run fleet`` is about."""

    alias: str | None
    where: tuple[Place, ...]
    slurm: Slurm
