"""Where the configuration comes from: the defaults, config.yaml, files over it, the command line.

``python -m copycost.config.sources FILE...`` only looks whether files are YAML; with ``--places``
before them, it prints what `./run fleet` is about then: ``local`` or ``slurm`` or both.
"""

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from itertools import takewhile
from pathlib import Path
from typing import Any

from copycost.config.audit_files import KEYS as AUDIT_KEYS
from copycost.config.checkout import ROOT
from copycost.config.structure import KeyPath
from copycost.config.wire import wire_over
from copycost.config.yaml_loader import parse_yaml, read_sections
from copycost.errors import ConfigError

DEFAULTS = Path("workflow/config/defaults.yaml")
COMMAND_LINE = "--config"
USER_FILE = "config.yaml"
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Source:
    """Part of the configuration: its name, what it states, and its file if it is one."""

    name: str
    content: Mapping[str, Any]
    file: Path | None = None

    def states(self, path: KeyPath) -> bool:
        """Tell whether a value is stated here; lists are never merged, so their items are not."""
        names = tuple(takewhile(lambda part: isinstance(part, str), path))
        return value_at(self.content, names, _ABSENT) is not _ABSENT


def value_at(tree: Any, path: KeyPath, absent: object = None) -> Any:  # noqa: ANN401 - any node
    """Return the value at `path`, or what stands for one that there is not."""
    for part in path:
        try:
            tree = tree[part]
        except (KeyError, IndexError, TypeError):
            return absent
    return tree


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the configuration has to fit.

    These are the ways to send that there are, the CPUs that this process may run on, and the host's
    memory [bytes], None where it is not known.
    """

    strategies: Collection[str]
    usable_cpus: Collection[int]
    memory_bytes: int | None = None


def require_yaml(*paths: str) -> None:
    """Where a file is no YAML, end the process naming the line, which Snakemake does not."""
    try:
        for path in paths:
            read_sections(path)
    except ConfigError as error:
        sys.exit(str(error))


def read_sources(files: Sequence[str | Path], said: Mapping[str, Any]) -> list[Source]:
    """Return what each source states, the later ones over those before.

    Snakemake does not always give what --config said its type; what that says of an audit is no
    part of an experiment.

    Raises ConfigError if a file is no configuration.
    """
    overrides = {key: value for key, value in said.items() if key not in AUDIT_KEYS}
    return [*map(_read, files), Source(COMMAND_LINE, _with_types(overrides))]


def _read(path: str | Path) -> Source:
    name = os.path.relpath(path)
    return Source(str(path) if name.startswith("..") else name, read_sections(path), Path(path))


def usual_tree() -> dict[str, Any]:
    """Return what this checkout's own files state, with the sizes as they are written there."""
    return merged(read_sources([ROOT / DEFAULTS, ROOT / USER_FILE], {}))


def merged(sources: Sequence[Source]) -> dict[str, Any]:
    """Return what all sources together state.

    `wire` is put together by machines: merged key by key, one would get what is said of another.
    Where a source says something that is no such section, it stays as it is, for the check.
    """
    contents = [source.content for source in sources]
    empty: dict[str, Any] = {}
    tree = reduce(_over, contents, empty)
    with suppress(KeyError, TypeError, AttributeError):
        tree["wire"] = reduce(wire_over, (one["wire"] for one in contents if "wire" in one), empty)
    return tree


def _over(base: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with what `above` says put in its place, section by section."""
    tree = dict(base)
    for key, value in above.items():
        below = tree.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        tree[key] = _over(below, value) if both else value  # type: ignore[arg-type]
    return tree


def _with_types(node: Any) -> Any:  # noqa: ANN401 - any node of what --config said
    """Return what --config said with numbers as numbers: Snakemake leaves nested ones as text."""
    if isinstance(node, Mapping):
        return {key: _with_types(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_with_types(value) for value in node]
    try:
        return parse_yaml(node, COMMAND_LINE) if isinstance(node, str) else node
    except ConfigError:
        return node  # a text, of which the check will say what it has to be


def _print_places(*files: str) -> None:
    try:
        tree = merged(read_sources([DEFAULTS, USER_FILE, *files], {}))
    except ConfigError as error:
        sys.exit(f"copycost: {error}")
    where = value_at(tree, ("hosts", "where"))
    print(*(where if isinstance(where, list) else ()))  # checked where the workflow begins


if __name__ == "__main__":
    if sys.argv[1:2] == ["--places"]:
        _print_places(*sys.argv[2:])
    else:
        require_yaml(*sys.argv[1:])
