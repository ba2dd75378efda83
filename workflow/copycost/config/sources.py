"""Where the configuration comes from: config.yaml, files that override it, and the command line.

``python -m copycost.config.sources FILE...`` only looks whether files are YAML.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from copycost.config.audit_files import KEYS as AUDIT_KEYS
from copycost.config.check import Source, check_config
from copycost.config.config import Config
from copycost.config.problems import Surroundings
from copycost.config.text import parse_yaml, read_sections
from copycost.config.wire import wire_over
from copycost.errors import ConfigError


def require_yaml(path: str) -> None:
    """Where `path` is no YAML file, end the process naming the line, which Snakemake does not."""
    try:
        read_sections(path)
    except ConfigError as error:
        sys.exit(str(error))


def resolve(
    config: Mapping[str, Any],
    files: Sequence[str | Path],
    said: Mapping[str, Any],
    around: Surroundings,
) -> Config:
    """Return the checked configuration.

    Parameters
    ----------
    config
        What Snakemake made of all sources.
    files
        The files in the order in which they were read.
    said
        What --config said, which Snakemake does not always give its type.
    around
        What the configuration has to fit.

    Raises
    ------
    ConfigError
        If anything is wrong; the message has one line per problem.
    """
    overrides = _without_audit(_with_types(said))
    sources: list[Source] = []
    for path in files:
        name = os.path.relpath(path)
        sources.append((str(path) if name.startswith("..") else name, read_sections(path)))
    tree = _merged(_without_audit(config), overrides)
    _settle_wire(tree, [content for _, content in sources] + [overrides])
    return check_config(
        tree,
        sources=[*sources, ("--config", overrides)],
        around=around,
    )


def _without_audit(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration without what --config says of an audit: no part of an experiment."""
    return {key: value for key, value in config.items() if key not in AUDIT_KEYS}


def _with_types(node: Any) -> Any:  # noqa: ANN401 - any node of what --config said
    """Return what --config said with numbers as numbers: Snakemake leaves nested ones as text."""
    if isinstance(node, Mapping):
        return {key: _with_types(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_with_types(value) for value in node]
    try:
        return parse_yaml(node, "--config") if isinstance(node, str) else node
    except ConfigError:
        return node  # a text, of which the check will say what it has to be


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with what `over` says put in its place, section by section."""
    tree = dict(base)
    for key, value in over.items():
        below = tree.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        tree[key] = _merged(below, value) if both else value  # type: ignore[arg-type]
    return tree


def _settle_wire(tree: dict[str, Any], contents: Sequence[Mapping[str, Any]]) -> None:
    """Put `wire` together by machines: merged key by key, one would get what is said of another.

    Where a source says something that is no such section, it stays as it is, for the check.
    """
    try:
        nothing: dict[str, Any] = {}
        said = reduce(wire_over, (one["wire"] for one in contents if "wire" in one), nothing)
        tree["wire"] = {**tree["wire"], **said}
    except (KeyError, TypeError, AttributeError):
        return


if __name__ == "__main__":
    for file in sys.argv[1:]:
        require_yaml(file)
