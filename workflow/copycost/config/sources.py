"""Where the configuration comes from: config.yaml, files that override it, and the command line.

``python -m copycost.config.sources FILE...`` only looks whether files are YAML.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from copycost.config.audit_files import KEYS as AUDIT_KEYS
from copycost.config.check import Source, check_config
from copycost.config.config import Config
from copycost.config.rules import Surroundings


class _Strict(yaml.SafeLoader):
    """Reads YAML in which no key stands twice; elsewhere the first one would silently be lost."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a section, as the class that this is derived from does.

        Raises
        ------
        ConstructorError
            If one of its keys stands twice.
        """
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{key.value} stands there twice; join the two", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def require_yaml(path: str) -> None:
    """Where `path` is no YAML file, end the process naming the line, which Snakemake does not."""
    try:
        content = yaml.load(Path(path).read_text(encoding="utf-8"), _Strict)
    except FileNotFoundError:
        sys.exit(f"{path}: not found in {Path.cwd()}; run in the folder that holds it")
    except UnicodeDecodeError:
        sys.exit(f"{path}: not UTF-8 text; write it anew with a text editor")
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        sys.exit(f"{path}: line {line}: not YAML: {error.problem}")
    if not isinstance(content, dict):
        found = {type(None): "nothing", list: "a list"}.get(type(content), "a single value")
        sys.exit(f"{path}: got {found}, must consist of sections such as streams and measure")


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
        require_yaml(str(path))  # `./run` has done so, plain Snakemake has not
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        name = os.path.relpath(path)
        sources.append((str(path) if name.startswith("..") else name, content or {}))
    return check_config(
        _merged(_without_audit(config), overrides),
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
        return yaml.safe_load(node) if isinstance(node, str) else node
    except yaml.YAMLError:
        return node  # a text, which the check will say is no section


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with what `over` says put in its place, section by section."""
    tree = dict(base)
    for key, value in over.items():
        below = tree.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        tree[key] = _merged(below, value) if both else value  # type: ignore[arg-type]
    return tree


if __name__ == "__main__":
    for file in sys.argv[1:]:
        require_yaml(file)
