"""What the report says of a strategy comes from the head of its source."""

from pathlib import Path

import pytest
from report.example import REPORT, STRATEGIES

from copycost.grid.capabilities import CAPABILITIES
from copycost.report.strategies import header_of, strategy_notes

HEADER = """/*
 * mine: sendmsg(2) in my own way.
 *
 * Path of the bytes: the kernel copies, see sendmsg(2) and (MSG_MORE). When sendmsg returns, the
 * fields are | <free> again. Kernel document networking/my_way.rst.
 *
 * What the code does besides is no concern of the report.
 */
#include "strategy.h"
"""


def test_summary_and_path_are_quoted_with_names_as_code() -> None:
    summary, path = header_of(HEADER)
    assert summary == "`sendmsg(2)` in my own way."
    assert path == (
        r"the kernel copies, see `sendmsg(2)` and (`MSG_MORE`). When `sendmsg` returns, the "
        r"fields are \| \<free\> again. Kernel document `networking/my_way.rst`."
    )


@pytest.mark.parametrize("source", ["", "int x;\n", "/* short */\n", "/*\n * no colon here\n */\n"])
def test_a_source_without_such_a_header_says_nothing(source: str) -> None:
    assert header_of(source) == (None, None)


@pytest.mark.parametrize("name", CAPABILITIES)
def test_every_strategy_says_where_its_bytes_go_and_is_in_the_table(name: str) -> None:
    notes = strategy_notes([STRATEGIES / f"{name}.c"], REPORT / "strategies.yaml", [])
    assert notes[name]["summary"]
    assert notes[name]["path"]
    assert all(notes[name][key] for key in ("copies", "calls", "kernel"))


def test_a_diagram_is_shown_where_there_is_one_with_its_words(tmp_path: Path) -> None:
    table = tmp_path / "strategies.yaml"
    table.write_text("two_copy: {copies: '2', calls: '1', kernel: any, caption: C, alt: A}\n")
    sources = [STRATEGIES / "two_copy.c", STRATEGIES / "one_copy.c"]
    drawn = [Path("two_copy.svg"), Path("one_copy.svg")]
    notes = strategy_notes(sources, table, drawn)
    assert [notes[name]["diagram"] for name in ("two_copy", "one_copy")] == [
        "assets/diagrams/two_copy.svg",
        None,
    ]
    assert strategy_notes(sources, table, [])["two_copy"]["diagram"] is None
