"""What every parser of a text of the kernel's or a tool's does where it cannot read it."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

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
