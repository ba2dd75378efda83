"""Checks of the configuration, which report every problem at once, one line each."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

from copycost.config.capabilities import capability_of
from copycost.config.config import Config
from copycost.config.grid import require_measurable
from copycost.config.rules import TRANSPORTS, cross_problems
from copycost.config.sources import DEFAULTS, Sound, Source, Surroundings, merged, value_at
from copycost.config.structure import UNKNOWN, KeyPath, Section, from_plain
from copycost.config.testbeds import WIRES, over_wire_to
from copycost.config.text import line_of
from copycost.config.wire import Wire
from copycost.errors import ConfigError

#: In the place of implementations: every strategy that can send on the sockets of the grid.
ALL = "all"

_WHOLE = Section("", Config)
_MOST_SHOWN = 80


def check_config(sources: Sequence[Source], around: Surroundings) -> Config:
    """Return the configuration as typed values; later sources are over those before.

    Raises ConfigError if anything is wrong, or does not fit `around`; the message has one line per
    problem.
    """
    raw = merged(sources)
    tree = normalised(raw)
    _name_all(tree, around.strategies)
    peers: tuple[str, ...] = ()
    with suppress(KeyError, TypeError, ValueError, AttributeError):  # of a section that is wrong
        peers = tuple(from_plain(tree["wire"], Wire).peers())
    problems = list(_WHOLE.problems(tree, (), peers))
    problems += cross_problems(Sound(tree, {path for path, _ in problems}), around)
    if problems:
        lines = (
            f"{_place_of(path, sources, text)}: {_dotted(path)}: "
            f"{f'got {_show(value_at(raw, path))}, ' if text.startswith('must') else ''}{text}"
            for path, text in sorted(problems, key=lambda problem: _dotted(problem[0]))
        )
        raise ConfigError("\n".join(dict.fromkeys(lines)))
    for section in tree.values():
        if "testbeds" in section:
            section["testbeds"] = list(with_peers(section["testbeds"], peers))
    config = Config.from_dict(tree)
    require_measurable(config)
    return config


def normalised(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with sizes in bytes, words for what YAML took for booleans, a bare title."""
    tree: dict[str, Any] = _WHOLE.normal(raw)
    return tree


def _name_all(tree: Mapping[str, Any], strategies: Collection[str]) -> None:
    """Put the names of the strategies in the place of the word `ALL`, in the lists of the grids."""
    for grid, transport in TRANSPORTS.items():
        section = tree.get(grid)
        if not isinstance(section, dict):
            continue
        names = section.get("implementations")
        if isinstance(names, list) and ALL in names:
            able = [name for name in strategies if transport in capability_of(name).transports]
            named = [name for name in names if name != ALL]
            section["implementations"] = [*(name for name in able if name not in named), *named]


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


def with_peers(testbeds: Iterable[str], peers: Sequence[str]) -> tuple[str, ...]:
    """Return a list of testbeds with one per peer in the place of each over a wire."""
    named = (
        [over_wire_to(name, peer) for peer in peers] if name in WIRES else [name]
        for name in testbeds
    )
    return tuple(dict.fromkeys(chain.from_iterable(named)))
