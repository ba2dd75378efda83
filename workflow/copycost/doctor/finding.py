"""One line of what the doctor says."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "limited", "missing", "fact"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's table.

    Attributes
    ----------
    section, name
        Where it belongs and what it is about.
    state
        ok; limited: works with less; missing: does not work; fact: nothing to judge.
    value
        What was found, in a few words.
    note
        What that means for a measurement; may be empty.
    remedy
        What would change it; None where nothing would, or nothing needs to.
    """

    section: str
    name: str
    state: State
    value: str
    note: str = ""
    remedy: str | None = None
