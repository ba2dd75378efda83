"""The page on the implementations, generated from the header comments of their sources.

``PYTHONPATH=workflow python -m tools.document_implementations > docs/implementations.md`` brings
the committed page up to date; a test compares the two.
"""

import sys

from copycost.build.toolchain import strategies
from copycost.config.checkout import ROOT
from copycost.config.strategy_capabilities import capability_of
from copycost.figures.markers import in_order
from copycost.report.strategies import strategy_notes, strategy_rows
from copycost.wording.filters import join_and

_HEAD = """\
# The implementations

A message is a struct of eight fields, each in its own memory, as in real applications. An
implementation hands such messages to a socket; its source is `src/strategies/NAME.c`. This page is
generated from the comments at the head of these files
(`PYTHONPATH=workflow python -m tools.document_implementations > docs/implementations.md`).

`implementations` in `config.yaml` selects which are measured; `all` selects every one that can send
on the sockets in question, and `config/every_way.yaml` measures all. Those that can pass several
messages per call do so as `NAME_xN`: `sendmmsg_x16` hands over sixteen at once. The studies
`cpu_budget`, `datagrams` and `profile` can also use `iperf3`.

| implementation | copies by the sender | system calls per message | Linux from | sockets |
|---|---|---|---|---|
"""
_SOCKETS = {"stream": "TCP", "datagram": "UDP"}


def implementations_page() -> str:
    """Return the Markdown page that describes every implementation."""
    names = in_order(strategies(ROOT))
    notes = strategy_notes(sorted((ROOT / "src" / "strategies").glob("*.c")))
    rows = [
        f"| {' | '.join([*row, _sockets(name)])} |\n"
        for name, row in zip(names, strategy_rows(names, notes), strict=True)
    ]
    parts = [
        f"\n## `{name}`\n\n{notes[name]['summary']}\n\n{_path(notes[name])}\n" for name in names
    ]
    return "".join([_HEAD, *rows, *parts])


def _sockets(name: str) -> str:
    known = capability_of(name)
    sockets = join_and([_SOCKETS[each] for each in sorted(known.transports, reverse=True)])
    return f"{sockets}; NAME_xN" if known.batching else sockets


def _path(note: dict[str, str]) -> str:
    return f"Path of the bytes: {note['path']}" if note["path"] else ""


if __name__ == "__main__":
    sys.stdout.write(implementations_page())
