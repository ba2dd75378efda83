"""What config.yaml states of another machine, for commands that take a name and no measurement."""

from collections.abc import Callable
from pathlib import Path

from copycost.config.problems import DEFAULTS
from copycost.config.wire import Peer, peer_named
from copycost.errors import ConfigError


def read_peer(name: str, say: Callable[[str], None], path: Path = Path("config.yaml")) -> Peer:
    """Return a machine with what a file states of it; where it names another, nothing.

    For commands that take a name and no measurement: the system's Python has to be enough for them.
    Without a reader of YAML nothing is stated, and `say` gets the sentence that says so.

    Raises ConfigError if that file, or its section `wire`, is not as it has to be.
    """
    try:
        from copycost.config.sources import merged, read_sources
    except ModuleNotFoundError:
        say(
            f"{path} is not read before ./run setup has been here, so {name} is taken as ssh has it"
        )
        return Peer(name)
    try:
        return peer_named(name, merged(read_sources([DEFAULTS, path], {}))["wire"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{path}: wire: is not as it has to be; ./run -n says what is wrong with it"
        ) from error
