"""What the report says of a strategy comes from the head of its source."""

from pathlib import Path

import pytest
from report.example import REPORT, STRATEGIES

from copycost.build.toolchain import strategies
from copycost.report.strategies import header_of, strategy_notes, strategy_rows

HEADER = """/*
 * mine: sendmsg(2) in my own
 * way.
 *
 * Copies: 1: sendmsg(2), or more
 *   where it is retried
 * System calls: 2, write_a_lot
 *
 * Path of the bytes: the kernel copies, see sendmsg(2) and (MSG_MORE). When sendmsg returns, the
 * fields are | <free> again. Kernel document networking/my_way.rst.
 *
 * What the code does besides is no concern of the report.
 */
#include "strategy.h"
"""


def test_what_a_header_says_is_quoted_with_names_as_code(tmp_path: Path) -> None:
    said = header_of(HEADER)
    assert said["summary"] == "`sendmsg(2)` in my own way."
    assert said["path"] == (
        r"the kernel copies, see `sendmsg(2)` and (`MSG_MORE`). When `sendmsg` returns, the "
        r"fields are \| \<free\> again. Kernel document `networking/my_way.rst`."
    )
    source = tmp_path / "mine.c"
    source.write_text(HEADER)
    assert strategy_rows(["other", "mine"], strategy_notes([source])) == [
        ["`mine`", "1: `sendmsg(2)`, or more where it is retried", "2, `write_a_lot`", "not stated"]
    ]


@pytest.mark.parametrize("name", strategies(REPORT.parent))
def test_every_strategy_says_where_its_bytes_go_and_what_the_table_needs(name: str) -> None:
    notes = strategy_notes([STRATEGIES / f"{name}.c"])[name]
    assert all(notes[key] for key in ("summary", "copies", "calls", "kernel", "path"))
