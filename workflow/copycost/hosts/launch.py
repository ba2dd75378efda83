"""What is to be started on a host: words, and the descriptors that the program is handed.

A launch is plain data, so that it means the same on a host that a line of text away. Words name
descriptors that exist only once the program is started there: ``{control}``, ``{file:NAME}``,
``{pipe:NAME:read}``, ``{pipe:NAME:write}``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

CONTROL = "{control}"
"""Stands for the program's end of its control line."""


def file_word(name: str) -> str:
    """Return the word that stands for a memory file of the launch."""
    return f"{{file:{name}}}"


def pipe_word(name: str, end: str) -> str:
    """Return the word that stands for one end, ``read`` or ``write``, of a pipe of the launch."""
    return f"{{pipe:{name}:{end}}}"


@dataclass(frozen=True, slots=True)
class Launch:
    """A program that is to be started."""

    # the program and its options; names of descriptors may stand within them
    words: tuple[str, ...]
    program: str  # path of what is meant to run, which some wrapper among the words starts
    # Whether it gets a control line: a socket for lines of text in both ways. Our end is closed to
    # ask it to end.
    control: bool = False
    # names of memory files that it may write, besides its stdout and stderr
    files: tuple[str, ...] = ()
    pipes: tuple[str, ...] = ()  # names of pipes; the ends that no word names are ours
    output: str | None = None  # the pipe that its stdout goes to, else a memory file
    cpus: frozenset[int] | None = None  # CPUs that it may run on; None leaves that to the program
    # whether it gets a signal when its starter ends; else it has to notice by its control line
    dies_with_us: bool = False
    # what its environment has besides ours
    environment: Mapping[str, str] = field(default_factory=dict)
