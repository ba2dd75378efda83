"""What Quarto would not forgive is found in the Markdown."""

from pathlib import Path

import pytest

from copycost.errors import DataError
from copycost.report.check import check_markdown, find_faults

GOOD = """---
title: "A title"
abstract: "In short."
---

# First {#sec-first .folded}

See @fig-one, [@tbl-one; @sec-first], somebody@fig-shop and `@fig-none`. An escaped \\@fig-two.

![A figure with `{#fig-x}`.](one.svg){#fig-one fig-alt="One"}

::: {.callout-note title="Mind"}
| a | b |
|:--|--:|
| x | 1 |

: A table. {#tbl-one .grouped}

:::

```
# no heading
: no caption {#tbl-nothing}
@fig-nothing
```
"""


def test_a_good_report_has_no_fault() -> None:
    assert find_faults(GOOD) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("grouped}\n\n", "grouped}\nText.\n\n", "line 17: text follows a table's caption without"),
        ("| x | 1 |\n\n", "| x | 1 |\n", "line 16: a table's caption needs an empty line before"),
        ("@fig-one,", "@fig-two,", "line 8: @fig-two refers to nothing"),
        ("In short.", "In @fig-one.", "line 3: @fig-one stands in the metadata"),
        ("\n\n::: {", "\nText.\n\n::: {", "line 10: a figure needs an empty line before and after"),
        ('"One"}', '"One"} Text.', "line 10: text follows a figure"),
        ('"One"}', '"One"}\n# Next', "line 11: a heading needs an empty line before it"),
        ("See ", "See ![x](y){#fig-z} ", "line 8: a figure stands within a line"),
        (": A table.", "A table.", "line 17: a table's identifier stands outside of a caption"),
        ("#tbl-one", "#fig-one", "the identifier fig-one is used more than once"),
        ("#sec-first", "#sec-First_1", "line 6: the identifier sec-First_1 must be"),
        (":::\n\n```", "```", "1 ::: blocks do not end"),
        ("```\n# no", ":::\n\n```\n# no", "line 21: ends a ::: block that never began"),
    ],
)
def test_each_fault_is_found(old: str, new: str, fault: str) -> None:
    assert GOOD.count(old) >= 1
    assert any(found.startswith(fault) for found in find_faults(GOOD.replace(old, new, 1)))


def test_the_first_faults_are_told_with_the_file(tmp_path: Path) -> None:
    qmd = tmp_path / "report.qmd"
    qmd.write_text("\n\n".join(f"See @fig-{name}." for name in "abcde"))
    with pytest.raises(DataError, match=r"report\.qmd: line 1: @fig-a .*@fig-c .*\(and 2 more\)"):
        check_markdown(qmd)
