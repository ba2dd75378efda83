"""``./run config``: the whole configuration, and where each value comes from, as YAML."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from copycost.build.toolchain import strategies
from copycost.cli.command_line import UsageError, parse
from copycost.config.check import check_config
from copycost.config.checkout import ROOT
from copycost.config.sources import (
    DEFAULTS,
    USER_FILE,
    Source,
    Surroundings,
    merged,
    read_sources,
    value_at,
)
from copycost.config.structure import KeyPath
from copycost.config.yaml_loader import line_of
from copycost.errors import CopycostError

_COLUMN = 48
_END = "...\n"


def lines_of(
    node: Mapping[str, Any], sources: Sequence[Source], path: KeyPath = ()
) -> Iterator[str]:
    """Yield a line for each value with the source that states it, and for each section."""
    indent = "  " * len(path)
    for key, value in node.items():
        below = (*path, key)
        if isinstance(value, Mapping):
            yield f"{indent}{key}:"
            yield from lines_of(value, sources, below)
        else:
            shown = yaml.safe_dump(value, default_flow_style=True, width=sys.maxsize)
            text = f"{indent}{key}: {shown.removesuffix(_END).strip()}"
            yield f"{text:<{_COLUMN}}  # {_origin(below, value, sources)}"


def _origin(path: KeyPath, value: object, sources: Sequence[Source]) -> str:
    # what is stated of another machine than the one that is named does not count
    stating = (one for one in reversed(sources) if value_at(one.content, path) == value)
    source = next((one for one in stating if one.states(path)), None)
    if source is None or source.name == str(DEFAULTS):
        return "default"
    if source.file is None:
        return "command line"
    return f"{source.name}, line {line_of(source.file, path)}"


def main(words: Sequence[str]) -> int:
    """Print it; 1 after everything that is wrong with it."""
    try:
        request = parse(words)
        if request.targets:
            raise UsageError(f"config: takes options such as --configfile, no {request.targets[0]}")
        said = dict(setting.split("=", 1) for setting in request.settings)
        files: list[str | Path] = [DEFAULTS, USER_FILE, *request.config_files]
        sources = read_sources(files, said)
        names = [name for name in strategies(ROOT) if name != "null"]
        check_config(sources, Surroundings(names, os.sched_getaffinity(0)))
    except CopycostError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(lines_of(merged(sources), sources)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
