"""Checks of the configuration, which report every problem at once, one line each.

Each value is looked at first (`copycost.config.structure`), and where all are sound, what they mean
together and on this host (`copycost.config.rules`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from copycost.config.config import Config
from copycost.config.grid import require_measurable
from copycost.config.rules import TRANSPORTS, cross_problems
from copycost.config.sources import DEFAULTS, Source, Surroundings, merged, value_at
from copycost.config.strategy_capabilities import capability_of
from copycost.config.structure import UNKNOWN, KeyPath, Problem, section
from copycost.config.testbeds import WIRES
from copycost.config.yaml_loader import line_of
from copycost.errors import ConfigError

#: In the place of implementations: every strategy that can send on the sockets of the grid.
ALL = "all"

_MOST_SHOWN = 80


def check_config(sources: Sequence[Source], around: Surroundings) -> Config:
    """Return the configuration as typed values; later sources are over those before.

    Raises ConfigError if anything is wrong, or does not fit `around`; the message has one line per
    problem.
    """
    tree = merged(sources)
    found: list[Problem] = []
    config: Config | None = section(Config).typed(tree, (), found)
    if config is not None:
        config = _with_all_named(config, around.strategies)
        found = list(cross_problems(config, around))
    if found or config is None:
        lines = (
            f"{_place_of(path, sources, text)}: {_dotted(path)}: "
            f"{f'got {_show(value_at(tree, path))}, ' if text.startswith('must') else ''}{text}"
            for path, text in sorted(found, key=lambda problem: _dotted(problem[0]))
        )
        raise ConfigError("\n".join(dict.fromkeys(lines)))
    config = _with_peers_named(config)
    require_measurable(config)
    return config


def _with_all_named(config: Config, strategies: Collection[str]) -> Config:
    """Put the names of the strategies in the place of the word `ALL`, in the lists of the grids."""
    for grid, transport in TRANSPORTS.items():
        section = getattr(config, grid)
        if ALL in section.implementations:
            able = [name for name in strategies if transport in capability_of(name).transports]
            named = [name for name in section.implementations if name != ALL]
            names = (*(name for name in able if name not in named), *named)
            config = replace(config, **{grid: replace(section, implementations=names)})
    return config


def _with_peers_named(config: Config) -> Config:
    """Put a testbed per peer in the place of each over a wire."""
    peers = config.wire.peers()
    named: dict[str, Any] = {}
    for each in fields(config):
        section = getattr(config, each.name)
        if hasattr(section, "testbeds"):
            testbeds: dict[str, None] = {}
            for name in section.testbeds:
                names = [f"{name}-{peer}" for peer in peers] if name in WIRES else [name]
                testbeds |= dict.fromkeys(names)
            named[each.name] = replace(section, testbeds=tuple(testbeds))
    return replace(config, **named)


def _place_of(path: KeyPath, sources: Sequence[Source], problem: str) -> str:
    """Return the file and line, or the name, of what is to blame: the last source that states it.

    What only the defaults state is to be stated otherwise in the file over them.
    """
    source = next((one for one in reversed(sources) if one.states(path)), sources[0])
    if source.name == str(DEFAULTS) and not problem.startswith(UNKNOWN):
        return sources[1].name
    line = source.file and line_of(source.file, path)
    return f"{source.name}: line {line}" if line else source.name


def _dotted(path: KeyPath) -> str:
    """Return the key as people write it; an index is left out, since the value tells which."""
    return ".".join(
        part if len(part) <= _MOST_SHOWN and part.isprintable() else _show(part)
        for part in path
        if isinstance(part, str)
    )


def _show(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a section"
    if isinstance(value, bool):
        return "true" if value else "false"
    shown = repr(value)
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}..."
