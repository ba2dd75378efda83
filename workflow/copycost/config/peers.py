"""What config.yaml states of other machines, for commands that take a name and no measurement.

Python alone has to be enough for them: without a reader of YAML nothing is stated.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from copycost.config.problems import DEFAULTS
from copycost.config.wire import Peer, peer_named
from copycost.errors import ConfigError

_NOT_READ = "{path} is not read before ./run setup has been here, so {name} is taken as ssh has it"


def read_peer(name: str, say: Callable[[str], None], path: Path = Path("config.yaml")) -> Peer:
    """Return a machine with what a file states of it; where it names another, nothing.

    `say` gets the sentence that the file cannot be read here, if so.

    Raises
    ------
    ConfigError
        If that file, or its section `wire`, is not as it has to be.
    """
    try:
        from copycost.config.sources import merged, read_sources
    except ModuleNotFoundError:
        say(_NOT_READ.format(path=path, name=name))
        return Peer(name)
    try:
        return peer_named(name, merged(read_sources([DEFAULTS, path], {}))["wire"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{path}: wire: is not as it has to be; ./run -n says what is wrong with it"
        ) from error


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
