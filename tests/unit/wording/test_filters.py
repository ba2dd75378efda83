"""Numbers and lists as they are written in the report."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copycost.errors import DataError
from copycost.wording import filters, words
from copycost.wording.filters import FILTERS, NBSP, thousands
from copycost.wording.numbers import parse_size


def plain(text: str) -> str:
    return text.replace(NBSP, " ")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("gbps", 38.24e9, "38.2 Gbit/s"),
        ("gbps", 125e9, "125 Gbit/s"),
        ("gbps", 1.2e12, "1200 Gbit/s"),
        ("gbps", 0.45e9, "0.450 Gbit/s"),
        ("few", 9.6e-6, "under 0.001"),
        ("few", 0.0123, "0.012"),
        ("gbit", 0.45e9, "0.450"),
        ("gbit", 16.1e6, "0.0161"),
        ("cpu", 98.91, "98.9 %"),
        ("exact_size", 65507, "65,507 B"),
        ("exact_size", 1472, "1472 B"),
        ("exact_size", 16384, "16 KiB"),
        ("gbps", 45e6, "45.0 Mbit/s"),
        ("gbps", 9.999e9, "10.0 Gbit/s"),
        ("size", 65536, "64 KiB"),
        ("size", 1048576, "1 MiB"),
        ("size", 256, "256 B"),
        ("size", 1000, "1000 B"),
        ("size", 23704.7, "23 KiB"),
        ("size", 12800, "12,800 B"),
        ("size", 6000, "6000 B"),
        ("size", 150000.0, "150,000 B"),
        ("duration", 0.2, "0.20 s"),
        ("duration", 10.0, "10.0 s"),
        ("duration", 252.0, "4 min 12 s"),
        ("duration", 7260.0, "2 h 1 min"),
        ("ns", 812.0, "812 ns"),
        ("ns", 1300.0, "1.30 µs"),
        ("ns", 4.25e6, "4.25 ms"),
        ("percent", 1.0, "100 %"),
        ("percent", 0.0, "0 %"),
        ("percent", 0.9996, "over 99.9 %"),
        ("percent", 0.995, "99.5 %"),
        ("percent", 0.0002, "under 0.1 %"),
        ("percent", 0.256, "26 %"),
        ("percent", 0.05, "5 %"),
        ("ratio", 1.418, "1.42"),
        ("ratio", 12.51, "12.5"),
        ("ratio", 0.0123, "0.012"),
        ("change", 1.25, "25 % more"),
        ("change", 0.8, "20 % less"),
        ("change", 3.0, "3.00 times"),
        ("change", 1.0, "neither more nor less"),
        ("count", 3, "three"),
        ("count", 28, "28"),
        ("count", 10000, "10,000"),
        ("number", 8.0, "8"),
        ("number", 0.403, "0.40"),
        ("significant", 0.0, "0"),
        ("significant", -0.3094, "\N{MINUS SIGN}0.309"),
    ],
)
def test_number(name: str, value: float, text: str) -> None:
    assert plain(FILTERS[name](value)) == text


@pytest.mark.parametrize(
    ("value", "text"), [(258_412, "258,000"), (9_996, "10,000"), (4010, "4010")]
)
def test_thousands(value: float, text: str) -> None:
    assert plain(thousands(value)) == text


def test_singular_and_plural() -> None:
    assert words.plural(1, "thread") == "1 thread"
    assert words.plural(4, "thread") == "4 threads"
    assert words.plural(0, "entry") == "0 entries"
    assert words.plural(2, "cache miss") == "2 cache misses"
    assert words.counted(1, "size") == "one size"
    assert words.counted(3, "size") == "three sizes"
    assert words.agree(1, "was") == "was"
    assert words.agree(2, "was") == "were"


def test_lists_read_as_in_a_sentence() -> None:
    assert filters.join_and([]) == ""
    assert filters.join_and([1]) == "1"
    assert filters.join_and([1, 2, 4]) == "1, 2 and 4"
    assert filters.n_threads([1]) == "1 thread"
    assert filters.n_threads([1, 2]) == "1 and 2 threads"
    assert plain(filters.sizes([1024, 65536])) == "1 KiB and 64 KiB"


def test_a_measured_size_reads_as_itself() -> None:
    for power in range(0, 31):
        for near in (1 << power, 3 << power >> 1, 5 << power >> 2):
            for n_bytes in range(max(near - 300, 0), near + 300):
                text = plain(filters.size(n_bytes))
                assert parse_size(text.replace(",", "")) == n_bytes, text


def test_spans_name_their_unit_once() -> None:
    assert filters.span(1.3, 1.55) == "1.30 to 1.55"
    assert plain(filters.span(5325.3, 14000.5, filters.size)) == "5.2 to 14 KiB"
    assert plain(filters.span(512, 14336, filters.size)) == "512 B to 14 KiB"
    assert filters.span(1.301, 1.302) == "1.30"


def test_intervals_that_say_nothing_are_not_quoted() -> None:
    assert plain(filters.interval(1.3, 1.55, 0.95)) == "95 % interval 1.30 to 1.55"
    assert plain(filters.interval(0.1, 60.0, 0.95)) == "too uncertain for an interval"


def test_a_ratio_of_one_round_has_no_interval() -> None:
    known = {"value": 1.42, "low": 1.3, "high": 1.55}
    once = {"value": 1.42, "low": None, "high": None}
    assert plain(filters.interval_of(known, 0.95)) == "(95 % interval 1.30 to 1.55)"
    assert filters.interval_of(once, 0.95) == "(observed once, no interval)"


@pytest.mark.parametrize("name", ["gbps", "size", "percent", "ratio", "duration", "significant"])
@pytest.mark.parametrize("value", [math.nan, math.inf, None, "12", True])
def test_what_is_no_number_stops_the_report(name: str, value: object) -> None:
    with pytest.raises(DataError, match="expected a finite number"):
        FILTERS[name](value)


@settings(deadline=None, derandomize=True)
@given(st.floats(1e-12, 1e15))
def test_significant_keeps_the_value_to_three_digits(value: float) -> None:
    text = filters.significant(value)
    assert "e" not in text
    assert float(text) == pytest.approx(value, rel=6e-3)
    if value < 99.9:
        assert len(re.sub(r"^0\.0*|\.", "", text)) == 3


@settings(deadline=None, derandomize=True)
@given(st.floats(0, 1))
def test_only_all_is_100_percent_and_only_nothing_is_0(share: float) -> None:
    text = plain(filters.percent(share))
    assert (text == "100 %") == (share == 1.0)
    assert (text == "0 %") == (share == 0.0)


def test_a_paragraph_is_one_line_and_its_units_stay_with_their_numbers() -> None:
    text = f"  It took 3{NBSP}ns\n\n    per byte.\n\n\n  That is little.\n"
    assert FILTERS["paragraph"](text) == f"\nIt took 3{NBSP}ns per byte. That is little.\n\n"


def test_a_paragraph_without_a_word_vanishes() -> None:
    assert FILTERS["paragraph"]("\n   \n") == ""
