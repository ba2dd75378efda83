"""Values carry their source through what is printed of them, and are numbers to all others."""

import json
import pickle
from typing import Any

import numpy as np

from copycost.wording.filters import percent, ratio, significant, size
from copycost.wording.number_sources import (
    Note,
    marked,
    noting,
    sourced,
    with_sources,
    without_marks,
)
from copycost.wording.words import count, counted, plural

FACTS: dict[str, Any] = {
    "ratio": 1.4213, "rows": [{"n": 12, "share": 0.25}], "is_once": True, "none": None, "name": "a"
}  # fmt: skip


def test_what_is_printed_is_noted_once_with_value_and_source() -> None:
    facts = with_sources(FACTS, "facts.json")
    row = facts["rows"][0]
    with noting() as notes:
        texts = [
            ratio(facts["ratio"]), ratio(facts["ratio"]), count(row["n"]), plural(row["n"], "cell"),
            percent(row["share"]), f"{row['n']:,}",
        ]  # fmt: skip
        told = list(notes)
    n = "facts.json: rows.0.n"
    assert [without_marks(text, notes) for text in texts[:4]] == [
        *("1.42", "1.42", "twelve", "12 cells"),
    ]
    assert list(notes) == told, "none is without a source"
    assert told == [
        Note("1.42", 1.4213, "facts.json: ratio"),
        Note("twelve", 12, n),
        Note("12 cells", 12, n),
        Note("25\N{NO-BREAK SPACE}%", 0.25, "facts.json: rows.0.share"),
        Note("12", 12, n),
    ]
    assert all(type(note.value) in (int, float) for note in notes)


def test_constants_and_sums_become_part_of_the_source_and_products_do_not() -> None:
    share, other = sourced(0.25, "f: a"), sourced(0.5, "f: b")
    assert (1 - share).source == "f: a from 1"
    assert (100 * share).source == "f: a * 100"
    assert (share * 1.0 / 4).source == "f: a / 4"
    assert (share * 1e-9).source == "f: a * 1e-09"
    assert type(share * other) is type(share * 0.37) is float
    assert (sum([share, other, share]) - (share + other)).source == "f: a + b + a - a - b"
    assert type(share + sourced(0.5, "g: b")) is float
    assert abs(-share).source == "f: a * -1 * -1"
    with noting() as notes:
        significant(1 - share)
        significant(share * other)
    assert list(notes) == [Note("0.750", 0.75, "f: a from 1")]


def test_what_is_printed_without_a_source_is_left_over() -> None:
    with noting() as notes:
        text = marked("in 7 of ") + plural(sourced(12, "f: n"), "cell") + f", {size(64)}, 2.5 times"
        text += f", {count(3)} of {counted(sourced(4, 'f: m'), 'size')}"
        told = "in 7 of 12 cells, 64\N{NO-BREAK SPACE}B, 2.5 times, three of four sizes"
        assert without_marks(text, notes) == told
    assert [note for note in notes if not note.source] == [
        *(Note(number, None, "") for number in ("three", "64", "2.5")),
    ]


def test_they_are_the_numbers_that_they_are() -> None:
    facts = with_sources(FACTS, "facts.json")
    assert facts == FACTS
    assert json.dumps(facts) == json.dumps(FACTS)
    assert facts["is_once"] is True
    assert facts["none"] is None
    assert pickle.loads(pickle.dumps(facts)) == FACTS
    assert np.array([facts["ratio"]]).dtype == np.float64
    assert {facts["rows"][0]["n"]: "x"}[12] == "x"
    with noting() as notes:
        assert ratio(1.42) == "1.42"
    assert notes == {}
