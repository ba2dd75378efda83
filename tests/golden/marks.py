"""Tells which words of the templates came into a text: golden texts must have all of them.

Every piece of a template's words gets a mark, a character that no text has; whatever is filled with
that template bears the marks of the words that it shows.
"""

import re
from collections.abc import Iterator

from jinja2 import Environment
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream

_FIRST = 0xE000  # of the characters that Unicode leaves to private use
_WORDS = re.compile(r"[A-Za-z]{2}")
_MARKS = re.compile("[\ue000-\uf8ff]")


class Marks(Extension):
    """Marks the words of every template that an environment compiles."""

    def __init__(self, environment: Environment) -> None:
        """Begin without words."""
        super().__init__(environment)
        self.pieces: list[tuple[str, int, str]] = []

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """Yield the tokens of a template, each text between tags with its mark at the end."""
        for token in stream:
            if token.type == "data" and _WORDS.search(token.value):
                words = token.value.rstrip()
                mark = chr(_FIRST + len(self.pieces))
                self.pieces.append((str(stream.name), token.lineno, " ".join(words.split())))
                yield Token(token.lineno, "data", words + mark + token.value[len(words) :])
            else:
                yield token

    def missing(self, texts: str) -> list[str]:
        """Return the words, with template and line, whose marks the texts have not."""
        return [
            f"{name}, line {line}: {words}"
            for index, (name, line, words) in enumerate(self.pieces)
            if chr(_FIRST + index) not in texts
        ]


def without_marks(text: str) -> str:
    """Return a text as the report would have it."""
    return _MARKS.sub("", text)
