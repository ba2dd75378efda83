"""Damage to texts and JSON trees, by a seed, for what must survive any."""

import copy
import random
from collections.abc import Iterator, Sequence
from typing import Any

ODD_TEXTS = (
    "", "null", "true", "-1", "NaN", "1e999", "-", "9" * 400, "9" * 5000, "[" * 3000, '{"a": 1}',
    "{}", "[]", '"12"', '"x"', "\0", "\ud7ff", ",", ":", '"', "}", "]", "0", "<not counted>", "nan",
    "-inf",
)  # fmt: skip
ODD_VALUES: tuple[object, ...] = (
    None, True, -1, 0, 0.5, 10**18, 10**25, 10**400, float("inf"), float("nan"), -(10**400), "",
    "12", "x", "9" * 5000, "\0", "\ud800", [], {}, [1], {"a": 1}, [[]], 1e-320, 1e308,
)  # fmt: skip


def mutated_texts(text: str, n: int, seed: int, odd: Sequence[str] = ODD_TEXTS) -> Iterator[str]:
    """Yield the text with pieces put in, cut out or doubled, and with numbers exchanged."""
    rng = random.Random(seed)
    for _ in range(n):
        found = text
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(found) + 1)
            end = min(len(found), at + rng.randint(0, 12))
            match rng.randrange(4):
                case 0:
                    found = found[:at] + rng.choice(odd) + found[at:]
                case 1:
                    found = found[:at] + found[end:]
                case 2:
                    found = found[:end] + found[at:]
                case _:
                    found = _exchange_number(found, at, rng.choice(odd))
        yield found


def _exchange_number(text: str, at: int, by: str) -> str:
    """Return the text with the first number after a place exchanged."""
    start = next((place for place in range(at, len(text)) if text[place].isdigit()), len(text))
    end = start
    while end < len(text) and (text[end].isdigit() or text[end] in ".e+-"):
        end += 1
    return text[:start] + by + text[end:]


def mutated_trees(tree: Any, n: int, seed: int) -> Iterator[Any]:  # noqa: ANN401 - any JSON
    """Yield the tree with a value exchanged, scaled, taken out or put in, at one or two places."""
    rng = random.Random(seed)
    for _ in range(n):
        found = copy.deepcopy(tree)
        for _ in range(rng.randint(1, 2)):
            holder, key = rng.choice(list(_places(found)))
            value = holder[key]
            match rng.randrange(5):
                case 0 if isinstance(value, int | float):
                    holder[key] = value * rng.choice((3, -1, 1000))
                case 1:
                    del holder[key]
                case 2 if isinstance(holder, dict):
                    holder[f"{key}_"] = value
                case _:
                    holder[key] = rng.choice(ODD_VALUES)
        yield found


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401
    """Yield each value below a tree as what holds it, and its key there."""
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in keys:
        yield tree, key
        yield from _places(tree[key])
