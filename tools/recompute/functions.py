"""What functions do, by the lists of data/functions."""

import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).parents[2] / "data"
UNNAMED = "uncategorised"

Stack = tuple[str, ...]
"""Frames from the outermost in; those of the kernel end with ``_[k]``, those of a hypervisor in
user mode with ``_[e]`` where it emulates and ``_[h]`` elsewhere."""


def plain(frame: str) -> str:
    """Return a function's name without the marks of a frame."""
    return re.sub(r"(_\[i\])?(_\[[keh]\])?$", "", frame)


@cache
def _lists() -> dict[str, Any]:
    text = (DATA / "functions/categories.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


@cache
def _names(where: str) -> dict[str, str]:
    """Return which kind of work names and patterns are, those of programs or of the kernel."""
    return {
        name: kind["name"]
        for kind in _lists()["categories"]
        for row in kind.get(where, ())
        for name in row["names"]
    }


@cache
def _callers_work() -> dict[str, str]:
    return {name: "" for row in _lists()["transparent"] for name in row["names"]}


def find(name: str, meanings: dict[str, str]) -> str | None:
    """Return what a name stands for: one written out goes first, then the longest pattern."""
    if name in meanings:
        return meanings[name]
    fitting = [one for one in meanings if "*" in one and fnmatchcase(name, one)]
    return meanings[max(fitting, key=len)] if fitting else None


@cache
def kind_of_function(frame: str) -> str:
    """Return what kind of work a function does; empty where it works for its caller."""
    name = plain(frame)
    if not frame.endswith("_[k]"):
        where = {"_[e]": "emulator", "_[h]": "hypervisor"}.get(frame[-4:], "user")
        return find(name, _names(where)) or UNNAMED
    found = find(name, _names("functions"))
    if found is None:
        found = find(name, _callers_work())
    return UNNAMED if found is None else found


@cache
def kind_of(stack: Stack) -> str:
    """Return what a sample is: what its innermost function does that does not serve its caller."""
    return next(filter(None, map(kind_of_function, reversed(stack))), UNNAMED)


@cache
def kinds_within(stack: Stack) -> tuple[str, ...]:
    """Return every kind of work that a stack goes through."""
    return tuple(dict.fromkeys(filter(None, map(kind_of_function, stack))))
