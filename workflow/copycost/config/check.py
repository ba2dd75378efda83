"""Checks of the configuration, which report every problem at once, one line each."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import cache
from itertools import chain
from math import isfinite
from typing import Any, cast

import yaml
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from copycost.checkout import SCHEMAS
from copycost.config import simulated
from copycost.config.capabilities import RECEIVERS, capability_of
from copycost.config.config import Config
from copycost.config.extent import require_measurable
from copycost.config.placements import PLACEMENTS
from copycost.config.problems import (
    DEFAULTS,
    TRANSPORTS,
    KeyPath,
    Problem,
    Sound,
    Source,
    Surroundings,
    value_at,
)
from copycost.config.rules import cross_problems
from copycost.config.sources import merged
from copycost.config.structure import NONE, from_plain
from copycost.config.testbeds import TESTBEDS, WIRES, names_over, over_wire_to, transport_of
from copycost.config.text import line_of
from copycost.config.variants import PLAIN, VARIANTS
from copycost.config.wire import Wire
from copycost.errors import ConfigError
from copycost.wording.numbers import format_size, parse_size
from copycost.wording.words import did_you_mean

SCHEMA_PATH = SCHEMAS / "config.schema.yaml"

#: In the place of implementations: every strategy that can send on the sockets of the grid.
ALL = "all"

_UNKNOWN = "unknown key"
_MOST_ITEMS = 100
_SIZE_PATTERN = r"^[0-9]{1,20} *(B|KiB|MiB|GiB)?$"
_SIZES = (
    "msg_bytes", "working_sets", "window_bytes", "size_bytes", "send_buffer_bytes",
    "receive_buffer_bytes",
)  # fmt: skip
# To JSON nan and infinity are no numbers; to a schema in Python they would be, and $ would match
# before a line's end.
_VALIDATOR = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "number": lambda checker, value: (
                checker.is_type(value, "integer") or (isinstance(value, float) and isfinite(value))
            ),
            "string": lambda _, value: isinstance(value, str) and "\n" not in value,
        }
    ),
)
_MOST_SHOWN = 80
_BOUNDS = {"minimum": ">=", "maximum": "<=", "exclusiveMinimum": ">", "exclusiveMaximum": "<"}
_MOST = {"maxItems": "values", "maxLength": "characters"}


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
    problems = [*_schema_problems(tree, raw, peers)]
    bad = {path for path, _ in problems}
    # nothing is said of the parts of what is wrong as a whole
    problems = [
        (path, text)
        for path, text in problems
        if bad.isdisjoint(path[:end] for end in range(len(path)))
    ]
    sound = Sound(tree, bad)
    problems += cross_problems(sound, around)
    if problems:
        lines = (
            f"{_place_of(path, sources, text)}: {_dotted(path)}: {text}"
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
    tree: dict[str, Any] = _in_bytes(raw)
    measure, virtual, report = (
        found if isinstance(found := tree.get(name), dict) else {}
        for name in ("measure", "virtual", "report")
    )
    if isinstance(measure.get("tcp_nodelay"), bool):
        measure["tcp_nodelay"] = "on" if measure["tcp_nodelay"] else "off"
    if virtual.get("vhost") is False:
        virtual["vhost"] = "off"
    if measure.get("minutes", NONE) is None:
        measure["minutes"] = NONE
    if isinstance(report.get("title"), str):
        report["title"] = report["title"].strip()
    return tree


def _in_bytes(node: Any, key: str = "") -> Any:  # noqa: ANN401 - any node of a YAML file
    """Return a copy in which written sizes are bytes."""
    if isinstance(node, Mapping):
        return {name: _in_bytes(value, name) for name, value in node.items()}
    if isinstance(node, list):
        return [_in_bytes(value, key) for value in node]
    with suppress(ValueError):
        return parse_size(node) if key in _SIZES and isinstance(node, str) else node
    return node


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


def _schema_problems(
    tree: Mapping[str, Any], raw: Mapping[str, Any], peers: tuple[str, ...]
) -> Iterator[Problem]:
    schema = _schema(peers)
    for error in _VALIDATOR(schema).iter_errors(tree):
        path = tuple(error.absolute_path)
        if error.validator == "additionalProperties":
            known = error.schema["properties"]
            for key in error.instance:
                if key not in known:
                    yield (*path, str(key)), f"{_UNKNOWN}{did_you_mean(str(key), known)}"
        elif error.validator == "required":
            for key in error.schema["required"]:
                if key not in error.instance:
                    title = _resolved(error.schema["properties"][key], schema)["title"]
                    yield (*path, key), f"missing, must be {title}"
        elif error.validator in _MOST:
            found = f"has {len(error.instance)} {_MOST[error.validator]}"
            yield path, f"{found}, must have at most {error.validator_value}"
        else:
            got = _show(value_at(raw, path))
            yield path, f"got {got}, must be {_expected(error)}"


def _resolved(node: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a node of the schema refers to, or the node."""
    name = node.get("$ref", "").removeprefix("#/$defs/")
    return cast("Mapping[str, Any]", schema["$defs"][name]) if name else node


def _expected(error: ValidationError) -> str:
    """Return what would have been right, as the end of a sentence."""
    validator, limit = str(error.validator), cast("Any", error.validator_value)
    title = cast("Mapping[str, Any]", error.schema)["title"]
    if validator in _BOUNDS:
        return f"{_BOUNDS[validator]} {format_size(limit) if 'size' in title else limit}"
    if validator == "enum":
        choices, word = [str(choice) for choice in limit], _show(error.instance).strip("'")
        other = did_you_mean(word, choices)
        if word in TESTBEDS:
            other = f"; {word} belongs in {'streams' if transport_of(word) == 'stream' else 'udp'}"
        return f"one of {', '.join(choices)}{other}"
    return str(title)


def _place_of(path: KeyPath, sources: Sequence[Source], problem: str) -> str:
    """Return the file and line, or the name, of what is to blame: the last source that states it.

    What only the defaults state is to be stated otherwise in the file over them.
    """
    source = next((one for one in reversed(sources) if one.states(path)), sources[0])
    if source.name == str(DEFAULTS) and not problem.startswith(_UNKNOWN):
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


def testbeds_for(section: str) -> tuple[str, ...]:
    """Return the testbeds that a section may name, in the order of their table."""
    if section == "simulated":
        return simulated.TESTBEDS
    if section == "profile":
        return tuple(TESTBEDS)
    if section == "udp":
        # our receiver needs an address of its own
        return tuple(name for name in names_over("datagram") if TESTBEDS[name].own_addresses)
    return names_over("datagram" if section == "datagrams" else "stream", receiving=True)


def with_peers(testbeds: Iterable[str], peers: Sequence[str]) -> tuple[str, ...]:
    """Return a list of testbeds with one per peer in the place of each over a wire."""
    named = (
        [over_wire_to(name, peer) for peer in peers] if name in WIRES else [name]
        for name in testbeds
    )
    return tuple(dict.fromkeys(chain.from_iterable(named)))


@cache
def _schema(peers: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema with what holds everywhere, and the names that it may use, filled in.

    Testbeds over a wire may be listed with the names of other machines, too.
    """
    filled: dict[str, Any] = yaml.load(SCHEMA_PATH.read_text(encoding="utf-8"), yaml.CSafeLoader)
    _close(filled)
    for section, node in filled["properties"].items():
        if "testbeds" in node.get("properties", {}):
            names = testbeds_for(section)
            wires = [name for name in names if name in WIRES]
            testbeds = deepcopy(filled["$defs"]["testbeds"])
            testbeds["items"]["enum"] = [*names, *with_peers(wires, peers)]
            node["properties"]["testbeds"] = testbeds
    variants = filled["properties"]["simulated"]["properties"]["sensitivity"]["properties"]
    variants["variants"]["items"]["enum"] = [name for name in VARIANTS if name != PLAIN]
    filled["$defs"]["receivers"]["items"]["enum"] = list(RECEIVERS)
    filled["$defs"]["placements"]["items"]["enum"] = list(PLACEMENTS)
    return filled


def _close(node: Any) -> None:  # noqa: ANN401 - any node of a schema
    """Let sections have their own keys only, and all of them, and lists an end."""
    if isinstance(node, list):
        for below in node:
            _close(below)
    elif isinstance(node, dict):
        if "properties" in node:
            node |= {"type": "object", "additionalProperties": False}
            node.setdefault("required", list(node["properties"]))
        if "items" in node:
            node |= {"type": "array", "maxItems": _MOST_ITEMS} | node
        if node.get("format") == "size":
            node |= {"type": ["integer", "string"], "pattern": _SIZE_PATTERN}
        for below in list(node.values()):
            _close(below)
