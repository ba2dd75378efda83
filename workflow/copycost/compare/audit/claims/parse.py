"""Reads a file of claims: from its YAML to typed values."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from reprlib import repr as shown
from typing import Any, Literal

from copycost.compare.audit.claims.statements import (
    AMOUNTS,
    LESS,
    MORE,
    Change,
    Claim,
    Crossing,
    In,
    Measurements,
    Point,
    Region,
    Statement,
    Unclear,
    Value,
    number,
    plain_region,
    region_of,
)
from copycost.compare.audit.dataset import Dataset
from copycost.compare.audit.mapping import load_yaml
from copycost.compare.audit.quantities import base_of, find_quantity
from copycost.errors import ConfigError
from copycost.wording.numbers import parse_size

_FREE = ("claim", "question", "note", "threads", "sizes", "dataset", "in")
_LARGEST_SIZE = 2**40
_LONGEST_LIST = 100


def parse_claim(said: Mapping[str, Any]) -> Claim:
    """Return a claim from its part of a file, or raise `Unclear`; of words alone, no statements."""
    known = (*_GRAMMAR, *_FREE)
    unknown = [key for key in said if key not in known]
    if unknown:
        raise Unclear(f"{unknown[0]}: unknown key; expected one of {', '.join(known)}")
    statements: list[Statement] = [
        make(_part(part, required, allowed))
        for kind, (required, allowed, make) in _GRAMMAR.items()
        if kind in said
        for part in _list(said[kind])
    ]
    if not statements and "claim" not in said:
        raise Unclear(f"says nothing of {', '.join(_GRAMMAR)}")
    in_ = In(_word("in", said.get("in", In.ALL.value), tuple(In)))
    if in_ is not In.ALL and any(isinstance(part, Measurements) for part in statements):
        raise Unclear("in: belongs to claims about cells, not about columns")
    return Claim(
        text=_text("claim", said.get("claim", "")).strip() or "(no words)",
        statements=tuple(statements),
        sizes=tuple(map(_size, _list(said.get("sizes", [])))),
        threads=tuple(_whole("threads", one, 100_000) for one in _list(said.get("threads", []))),
        dataset=_text("dataset", said["dataset"]) if "dataset" in said else None,
        in_=in_,
    )


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise Unclear(f"{key}: got {shown(value)}, must be a text")
    return value


def _name(key: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Unclear(f"{key}: got {shown(value)}, must be a name")
    return str(value)


def _word(key: str, value: object, words: Sequence[str]) -> str:
    if value not in words:
        raise Unclear(f"{key}: got {shown(value)}, must be one of {', '.join(words)}")
    return str(value)


def _metric(name: object) -> str:
    found = find_quantity(_name("metric", name))
    if found is None or base_of(found).kind in ("label", "instant"):
        raise Unclear(f"{shown(name)} is no quantity")
    return found


def _size(value: object) -> int:
    """Return a message size such as 65536 or 64KiB."""
    try:
        found = parse_size(value if isinstance(value, int) else str(value)[:40])
    except ValueError as error:
        raise Unclear(str(error)) from error
    if not 1 <= found <= _LARGEST_SIZE:
        raise Unclear(f"got {shown(value)}, must be a size from 1 B to 1 TiB")
    return found


def _whole(key: str, value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise Unclear(f"{key}: got {shown(value)}, must be a whole number from 1 to {most:,}")
    return value


def _list(value: object) -> list[Any]:
    values = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    if len(values) > _LONGEST_LIST:
        raise Unclear(f"a list of {len(values)}, must be at most {_LONGEST_LIST} values")
    return values


def _read(key: str, value: object) -> Any:  # noqa: ANN401 - of the type of its key
    """Return the value of a key that means the same wherever it stands; others as they are."""
    match key:
        case "metric":
            return _metric(value)
        case "metrics":
            return tuple(map(_metric, _list(value)))
        case "implementation" | "with":
            return _name(key, value)
        case "implementations":
            return tuple(_name(key, one) for one in _list(value))
        case "size" | "from_size" | "up_to_size":
            return _size(value)
        case "threads":
            return _whole(key, value, 100_000)
        case "below":
            return plain_region(value)
    return value


def _part(said: object, required: Sequence[str], allowed: Sequence[str]) -> dict[str, Any]:
    """Return a part of a claim with its values read, as far as their keys alone tell how."""
    if not isinstance(said, Mapping):
        raise Unclear(f"got {shown(said)}, must have {', '.join(required)}")
    missing = [key for key in required if key not in said]
    if missing:
        raise Unclear(f"{missing[0]} is missing")
    foreign = [key for key in said if key not in (*required, *allowed)]
    if foreign:
        raise Unclear(f"{foreign[0]}: unknown; expected some of {', '.join((*required, *allowed))}")
    return {key: _read(key, value) for key, value in said.items()}


def _compare(part: dict[str, Any]) -> Change:
    from_, to = Point(part["with"]), Point(part["implementation"])
    limits = {key: part[key] for key in ("from_size", "up_to_size", "below") if key in part}
    return Change(part["metric"], from_, to, region_of(part), **limits)


def _change(part: dict[str, Any]) -> Change:
    ends = [_part(part[end], (), ("implementation", "size", "threads")) for end in ("from", "to")]
    if not ends[0] or ends[0].keys() != ends[1].keys():
        raise Unclear("from and to must name the same of implementation, size, threads")
    from_, to = (Point(*map(end.get, ("implementation", "size", "threads"))) for end in ends)
    return Change(part["metric"], from_, to, region_of(part),
                  implementations=part.get("implementations", ()))  # fmt: skip


def _more_is_better(metric: str, instead: str) -> bool:
    better = base_of(metric).more_is_better
    if better is None:
        raise Unclear(f"{metric} is neither good nor bad; {instead}")
    return better


def _crossover(part: dict[str, Any]) -> Crossing:
    if ("from" in part) == ("up_to" in part):
        raise Unclear("crossover: must have one of from and up_to")
    better = _more_is_better(part["metric"], "compare says more or less of it")
    size = _size(part["from" if "from" in part else "up_to"])
    return Crossing(
        part["metric"], part["implementation"], part["with"], size, "from" in part, better
    )


def _rank(part: dict[str, Any]) -> Change:
    word = _word("is", part["is"], ("highest", "lowest", "best", "worst"))
    is_highest = word == "highest"
    if word in ("best", "worst"):
        more_is_better = _more_is_better(part["metric"], "say highest or lowest")
        is_highest = more_is_better == (word == "best")
    to = Point(part["implementation"])
    return Change(part["metric"], None, to, MORE if is_highest else LESS)


def _value(part: dict[str, Any]) -> Value:
    word = _word("is", part["is"], ("zero", "not zero", "above", "below"))
    if (word in ("above", "below")) != ("than" in part):
        raise Unclear("than: belongs to above and below, and only to those")
    is_: Region | Literal["zero", "not zero"] = "zero" if word == "zero" else "not zero"
    if "than" in part:
        than = number(part, "than")
        ends = (than, math.inf) if word == "above" else (-math.inf, than)
        is_ = Region(*ends, strict=True)
    return Value(part["metric"], is_, part.get("implementations", ()))


_GRAMMAR: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], Callable[..., Statement]]] = {
    "compare": (("metric", "implementation", "with", "is"),
                ("from_size", "up_to_size", "below", *AMOUNTS), _compare),
    "crossover": (("metric", "implementation", "with"), ("from", "up_to"), _crossover),
    "rank": (("metric", "implementation", "is"), (), _rank),
    "change": (("metric", "from", "to", "is"), ("implementations", *AMOUNTS), _change),
    "value": (("metric", "is"), ("than", "implementations"), _value),
    "measurements": (("metrics",), (), lambda part: Measurements(part["metrics"])),
}  # fmt: skip
"""The kinds of statements: the keys that each must have and may have, and what makes one."""


def read_claims(path: Path, dataset: Dataset) -> list[Claim]:
    """Return the claims about a dataset.

    A file holds a list of claims, alone or under ``claims:``, or one such list per dataset, by
    its name. A text in the list is a claim in words alone. ConfigError lists all that are not in
    the vocabulary at once.
    """
    problems: list[str] = []
    claims = []
    for at, said in enumerate(_items(load_yaml(path), dataset, path), 1):
        if not isinstance(said, str | Mapping):
            problems.append(f"{path}: claim {at}: got {shown(said)}, must be a mapping")
            continue
        try:
            claims.append(parse_claim({"claim": said} if isinstance(said, str) else said))
        except Unclear as error:
            problems.append(f"{path}: claim {at}: {error}; see docs/audit.md")
    if problems:
        raise ConfigError("\n".join(problems))
    return claims


def _items(content: Any, dataset: Dataset, path: Path) -> list[Any]:  # noqa: ANN401
    if isinstance(content, list):
        return content
    if not isinstance(content, Mapping):
        raise ConfigError(f"{path}: must hold a list of claims; see docs/audit.md")
    for name in ("claims", dataset.name, *dataset.datasets):
        if isinstance(content.get(name), list):
            return list(content[name])
    raise ConfigError(
        f"{path}: no claims about {dataset.name}; found lists for {', '.join(map(str, content))}; "
        "give a list under `claims:` or under the dataset's name"
    )
