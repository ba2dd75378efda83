"""What every parser of a text of the kernel's or a tool's does, and every set of counters."""

import operator
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import ParamSpec, Self, TypeVar

from copycost.errors import ParseError

_Given = ParamSpec("_Given")
_Read = TypeVar("_Read")
_Parser = Callable[_Given, _Read]
_FAILURES = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip
_MOST_SHOWN = 80


def parser_of(what: str) -> Callable[[_Parser[_Given, _Read]], _Parser[_Given, _Read]]:
    """Return a decorator: the function reads a text, its first argument, or raises ParseError.

    `what` says whose text it is: a file of the kernel's, or a command.
    """

    def decorated(parse: _Parser[_Given, _Read]) -> _Parser[_Given, _Read]:
        @wraps(parse)
        def read(*args: _Given.args, **named: _Given.kwargs) -> _Read:
            try:
                return parse(*args, **named)
            except _FAILURES as error:
                found = str(args[0])[:_MOST_SHOWN]
                why = f"{type(error).__name__}: {error}"[:_MOST_SHOWN]
                raise ParseError(
                    f"{what}: found {found!r}, expected its documented form ({why}); run again"
                ) from error

        return read

    return decorated


@dataclass(frozen=True, slots=True)
class Counters:
    """What has been counted by one moment, None where nobody tells; `-` gives differences."""

    def __add__(self, other: Self) -> Self:
        """Return what was counted in both."""
        return self._each(operator.add, other)

    def __sub__(self, earlier: Self) -> Self:
        """Return the differences since an earlier moment, or without a part."""
        return self._each(operator.sub, earlier)

    def _each(self, combine: Callable[[int, int], int], other: Self) -> Self:
        pairs = [(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)]
        return type(self)(*(None if None in pair else combine(*pair) for pair in pairs))
