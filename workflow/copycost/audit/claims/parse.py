"""Reads a file of claims: from its YAML to typed values."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from reprlib import repr as shown
from typing import Any, Literal

from copycost.audit.claims.statements import (
    AMOUNTS,
    LESS,
    MORE,
    Change,
    Claim,
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
from copycost.audit.dataset import Dataset
from copycost.audit.mapping import load_yaml
from copycost.audit.quantities import base_of, find_quantity
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
    in_ = said.get("in", In.ALL.value)
    if in_ not in list(In):
        raise Unclear(f"in: got {shown(in_)}, must be one of {', '.join(In)}")
    if in_ != In.ALL and any(isinstance(part, Measurements) for part in statements):
        raise Unclear("in: belongs to claims about cells, not about columns")
    return Claim(
        text=(_text(said, "claim") or "").strip() or "(no words)",
        statements=tuple(statements),
        sizes=tuple(map(_size, _list(said.get("sizes", [])))),
        threads=tuple(map(_threads, _list(said.get("threads", [])))),
        question=_whole(said["question"], "question", 6) if "question" in said else None,
        dataset=_text(said, "dataset"),
        in_=In(in_),
    )


def _text(said: Mapping[str, Any], key: str) -> str | None:
    value = said.get(key)
    if value is not None and not isinstance(value, str):
        raise Unclear(f"{key}: got {shown(value)}, must be a text")
    return value


def _name(value: object, what: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Unclear(f"{what}: got {shown(value)}, must be a name")
    return str(value)


def _metric(name: object) -> str:
    found = find_quantity(_name(name, "metric"))
    if found is None or base_of(found).kind == "label":
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


def _whole(value: object, what: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise Unclear(f"{what}: got {shown(value)}, must be a whole number from 1 to {most:,}")
    return value


_threads = partial(_whole, what="threads", most=100_000)


def _list(value: object) -> list[Any]:
    values = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    if len(values) > _LONGEST_LIST:
        raise Unclear(f"a list of {len(values)}, must be at most {_LONGEST_LIST} values")
    return values


_READ: Mapping[str, Callable[[Any], Any]] = {
    "metric": _metric,
    "metrics": lambda value: tuple(map(_metric, _list(value))),
    "implementation": partial(_name, what="implementation"),
    "with": partial(_name, what="with"),
    "implementations": lambda value: tuple(_name(one, "implementations") for one in _list(value)),
    "size": _size,
    "threads": _threads,
    "from_size": _size,
    "up_to_size": _size,
    "below": plain_region,
}
"""What makes a value of each key that means the same wherever it stands."""


def _part(said: object, required: Sequence[str], allowed: Sequence[str]) -> dict[str, Any]:
    """Return a part of a claim with its values read, as far as their keys alone tell how."""
    if not isinstance(said, Mapping):
        raise Unclear(f"got {shown(said)}, must have {', '.join(required)}")
    missing = [key for key in required if key not in said]
    foreign = [key for key in said if key not in (*required, *allowed)]
    if missing:
        raise Unclear(f"{missing[0]} is missing")
    if foreign:
        raise Unclear(f"{foreign[0]}: unknown; expected some of {', '.join((*required, *allowed))}")
    return {key: _READ[key](value) if key in _READ else value for key, value in said.items()}


def _word(word: object, words: Sequence[str]) -> str:
    if word not in words:
        raise Unclear(f"is: got {shown(word)}, must be one of {', '.join(words)}")
    return str(word)


def _compare(part: dict[str, Any]) -> Change:
    from_, to = Point(part["with"]), Point(part["implementation"])
    limits = {key: part[key] for key in ("from_size", "up_to_size", "below") if key in part}
    return Change(part["metric"], from_, to, region_of(part), **limits)


def _change(part: dict[str, Any]) -> Change:
    ends = [_part(part[end], (), ("implementation", "size", "threads")) for end in ("from", "to")]
    if ends[0].keys() != ends[1].keys():
        raise Unclear("from and to must name the same of implementation, size, threads")
    if not ends[0]:
        raise Unclear("from and to must name an implementation, a size or a number of threads")
    from_, to = (Point(*map(end.get, ("implementation", "size", "threads"))) for end in ends)
    return Change(part["metric"], from_, to, region_of(part),
                  implementations=part.get("implementations", ()))  # fmt: skip


def _rank(part: dict[str, Any]) -> Change:
    word = _word(part["is"], ("highest", "lowest", "best", "worst"))
    highest = word == "highest"
    if word in ("best", "worst"):
        more_is_better = base_of(part["metric"]).more_is_better
        if more_is_better is None:
            raise Unclear(f"{part['metric']} is neither good nor bad; say highest or lowest")
        highest = more_is_better == (word == "best")
    to = Point(part["implementation"])
    return Change(part["metric"], None, to, MORE if highest else LESS)


def _value(part: dict[str, Any]) -> Value:
    word = _word(part["is"], ("zero", "not zero", "above", "below"))
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
