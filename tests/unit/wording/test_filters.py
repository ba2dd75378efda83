"""Numbers and lists as they are written in the report."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copycost.errors import DataError
from copycost.wording import filters
from copycost.wording.filters import FILTERS, NBSP
from copycost.wording.numbers import parse_size


def plain(text: str) -> str:
    return text.replace(NBSP, " ")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("gbps", 38.24e9, "38.2 Gbit/s"),
        ("gbit", 0.45e9, "0.450"),
        ("cpu", 98.91, "98.9 %"),
        ("exact_size", 65507, "65,507 B"),
        ("gbps", 45e6, "45.0 Mbit/s"),
        ("size", 65536, "64 KiB"),
        ("size", 23704.7, "23 KiB"),
        ("size", 12800, "12,800 B"),
        ("duration", 0.2, "0.20 s"),
        ("duration", 10.0, "10.0 s"),
        ("duration", 252.0, "4 min 12 s"),
        ("ns", 1300.0, "1.30 µs"),
        ("percent", 1.0, "100 %"),
        ("percent", 0.0, "0 %"),
        ("percent", 0.9996, "over 99.9 %"),
        ("percent", 0.0002, "under 0.1 %"),
        ("percent", 0.05, "5 %"),
        ("ratio", 1.418, "1.42"),
        ("ratio", 0.0123, "0.012"),
        ("count", 3, "three"),
        ("count", 10000, "10,000"),
        ("number", 0.403, "0.40"),
        ("significant", 0.0, "0"),
        ("significant", -0.3094, "\N{MINUS SIGN}0.309"),
    ],
)
def test_number(name: str, value: float, text: str) -> None:
    assert plain(FILTERS[name](value)) == text


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
