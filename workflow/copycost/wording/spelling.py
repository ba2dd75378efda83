"""What somebody may have meant."""

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[object]) -> str:
    """Return ``; did you mean NAME?`` where one of the known names is close, else nothing."""
    close = difflib.get_close_matches(word, [str(name) for name in known], n=1)
    return f"; did you mean {close[0]}?" if close else ""
