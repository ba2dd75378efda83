"""Reads a file of claims: from its YAML to typed values."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from reprlib import repr as shown
from typing import Any

from copycost.audit.claims.vocabulary import (
    AMOUNTS,
    Change,
    Claim,
    Crossing,
    In,
    Measurements,
    Point,
    Rank,
    Region,
    Statement,
    Unclear,
    Value,
    Zero,
    number,
    plain_region,
    region_of,
)
from copycost.audit.dataset import Dataset
from copycost.audit.mapping import load_yaml
from copycost.audit.quantities import base_of, find_quantity, is_quantity
from copycost.errors import ConfigError
from copycost.wording.numbers import parse_size

_RANKS = ("highest", "lowest", "best", "worst")
_VALUES = ("zero", "not zero", "above", "below")
KINDS = ("compare", "crossover", "rank", "change", "value", "measurements")
_FREE = ("claim", "question", "note", "threads", "sizes", "dataset", "in")
_MOST_THREADS = 100_000
_QUESTIONS = 6
_LARGEST_SIZE = 2**40
_LONGEST_LIST = 100


def parse_claim(said: Mapping[str, Any]) -> Claim:
    """Return a claim from its part of a file; one in words alone has no statements.

    Raises
    ------
    Unclear
        If it is not in the vocabulary.
    """
    unknown = [key for key in said if key not in (*KINDS, *_FREE)]
    if unknown:
        raise Unclear(f"{unknown[0]}: unknown key; expected one of {', '.join((*KINDS, *_FREE))}")
    statements = [
        _PARSERS[kind](part) for kind in KINDS if kind in said for part in _list(said[kind])
    ]
    if not statements and "claim" not in said:
        raise Unclear(f"says nothing of {', '.join(KINDS)}")
    in_ = _in(said.get("in", In.ALL.value))
    if in_ is not In.ALL and any(isinstance(part, Measurements) for part in statements):
        raise Unclear("in: belongs to claims about cells, not about columns")
    question = whole(said["question"], "question", _QUESTIONS) if "question" in said else None
    return Claim(
        text=(_text(said, "claim") or "").strip() or "(no words)",
        statements=tuple(statements),
        sizes=tuple(size_of(size) for size in _list(said.get("sizes", []))),
        threads=tuple(
            whole(count, "threads", _MOST_THREADS) for count in _list(said.get("threads", []))
        ),
        question=question,
        dataset=_text(said, "dataset"),
        in_=in_,
    )


def _in(word: object) -> In:
    if word not in list(In):
        raise Unclear(f"in: got {shown(word)}, must be one of {', '.join(In)}")
    return In(str(word))


def _text(said: Mapping[str, Any], key: str) -> str | None:
    value = said.get(key)
    if value is not None and not isinstance(value, str):
        raise Unclear(f"{key}: got {shown(value)}, must be a text")
    return value


def name_of(value: object, what: str) -> str:
    """Return a name that a claim gives."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Unclear(f"{what}: got {shown(value)}, must be a name")
    return str(value)


def metric_of(name: object) -> str:
    """Return the quantity that a claim names."""
    text = name_of(name, "metric")
    found = text if is_quantity(text) else find_quantity(text)
    if found is None or base_of(found).kind == "label":
        raise Unclear(f"{shown(name)} is no quantity")
    return found


def size_of(value: object) -> int:
    """Return a message size such as 65536 or 64KiB."""
    try:
        found = parse_size(value if isinstance(value, int) else str(value)[:40])
    except ValueError as error:
        raise Unclear(str(error)) from error
    if not 1 <= found <= _LARGEST_SIZE:
        raise Unclear(f"got {shown(value)}, must be a size from 1 B to 1 TiB")
    return found


def whole(value: object, what: str, most: int) -> int:
    """Return a whole number from 1 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise Unclear(f"{what}: got {shown(value)}, must be a whole number from 1 to {most:,}")
    return value


def _list(value: object) -> list[Any]:
    values = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    if len(values) > _LONGEST_LIST:
        raise Unclear(f"a list of {len(values)}, must be at most {_LONGEST_LIST} values")
    return values


def _need(part: object, required: Sequence[str], allowed: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(part, Mapping):
        raise Unclear(f"got {shown(part)}, must have {', '.join(required)}")
    missing = [key for key in required if key not in part]
    foreign = [key for key in part if key not in (*required, *allowed)]
    if missing:
        raise Unclear(f"{missing[0]} is missing")
    if foreign:
        raise Unclear(f"{foreign[0]}: unknown; expected some of {', '.join((*required, *allowed))}")
    return part


def _compare(said: object) -> Change:
    part = _need(said, ("metric", "implementation", "with", "is"),
                 ("from_size", "up_to_size", "below", *AMOUNTS))  # fmt: skip
    return Change(
        metric=metric_of(part["metric"]),
        from_=Point(implementation=name_of(part["with"], "with")),
        to=Point(implementation=name_of(part["implementation"], "implementation")),
        region=region_of(part),
        from_size=size_of(part["from_size"]) if "from_size" in part else None,
        up_to_size=size_of(part["up_to_size"]) if "up_to_size" in part else None,
        below=plain_region(part["below"]) if "below" in part else None,
    )


def _change(said: object) -> Change:
    part = _need(said, ("metric", "from", "to", "is"), ("implementations", *AMOUNTS))
    from_, to = _point(part["from"]), _point(part["to"])
    for name in ("implementation", "msg_bytes", "n_threads"):
        if (getattr(from_, name) is None) != (getattr(to, name) is None):
            raise Unclear("from and to must name the same of implementation, size, threads")
    if from_ == Point():
        raise Unclear("from and to must name an implementation, a size or a number of threads")
    return Change(
        metric=metric_of(part["metric"]),
        from_=from_,
        to=to,
        region=region_of(part),
        implementations=_names(part),
    )


def _point(said: object) -> Point:
    part = _need(said, (), ("implementation", "size", "threads"))
    return Point(
        implementation=name_of(part["implementation"], "implementation")
        if "implementation" in part
        else None,
        msg_bytes=size_of(part["size"]) if "size" in part else None,
        n_threads=whole(part["threads"], "threads", _MOST_THREADS) if "threads" in part else None,
    )


def _names(part: Mapping[str, Any]) -> tuple[str, ...]:
    names = _list(part.get("implementations", []))
    return tuple(name_of(name, "implementations") for name in names)


def _crossover(said: object) -> Crossing:
    part = _need(said, ("metric", "implementation", "with"), ("from", "up_to"))
    if ("from" in part) == ("up_to" in part):
        raise Unclear("crossover: must have one of from and up_to")
    metric = metric_of(part["metric"])
    better = base_of(metric).more_is_better
    if better is None:
        raise Unclear(f"{metric} is neither good nor bad; compare says more or less of it")
    return Crossing(
        metric=metric,
        implementation=name_of(part["implementation"], "implementation"),
        baseline=name_of(part["with"], "with"),
        msg_bytes=size_of(part["from" if "from" in part else "up_to"]),
        from_="from" in part,
        more_is_better=better,
    )


def _rank(said: object) -> Rank:
    part = _need(said, ("metric", "implementation", "is"), ())
    metric, word = metric_of(part["metric"]), _word(part["is"], _RANKS)
    highest = word == "highest"
    if word in ("best", "worst"):
        better = base_of(metric).more_is_better
        if better is None:
            raise Unclear(f"{metric} is neither good nor bad; say highest or lowest")
        highest = better == (word == "best")
    return Rank(metric, name_of(part["implementation"], "implementation"), highest)


def _value(said: object) -> Value | Zero:
    part = _need(said, ("metric", "is"), ("than", "implementations"))
    word = _word(part["is"], _VALUES)
    if (word in ("above", "below")) != ("than" in part):
        raise Unclear("than: belongs to above and below, and only to those")
    metric, names = metric_of(part["metric"]), _names(part)
    if "than" not in part:
        return Zero(metric, word == "zero", names)
    than = number(part, "than")
    above, below = Region(than, math.inf, strict=True), Region(-math.inf, than, strict=True)
    return Value(metric, above if word == "above" else below, names)


def _word(word: object, words: Sequence[str]) -> str:
    if word not in words:
        raise Unclear(f"is: got {shown(word)}, must be one of {', '.join(words)}")
    return str(word)


def _measurements(said: object) -> Measurements:
    part = _need(said, ("metrics",), ())
    return Measurements(tuple(metric_of(name) for name in _list(part["metrics"])))


_PARSERS: dict[str, Callable[[object], Statement]] = {
    "compare": _compare,
    "crossover": _crossover,
    "rank": _rank,
    "change": _change,
    "value": _value,
    "measurements": _measurements,
}


def read_claims(path: Path, dataset: Dataset) -> list[Claim]:
    """Return the claims about a dataset.

    A file holds a list of claims, alone or under ``claims:``, or one such list per dataset, by
    its name. A text in the list is a claim in words alone.

    Raises
    ------
    ConfigError
        If the file is no such list; a claim that is not in the vocabulary is listed by number,
        all of them at once.
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
    if isinstance(content, Mapping):
        if isinstance(content.get("claims"), list):
            return list(content["claims"])
        names = [dataset.name, *dataset.datasets]
        for name in names:
            if isinstance(content.get(name), list):
                return list(content[name])
        raise ConfigError(
            f"{path}: no claims about {names[0]}; found lists for {', '.join(map(str, content))}; "
            "give a list under `claims:` or under the dataset's name"
        )
    raise ConfigError(f"{path}: must hold a list of claims; see docs/audit.md")
