"""Numbers and lists: written as people and the kernel write them, and read back."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copycost.errors import DataError
from copycost.wording import filters
from copycost.wording.filters import FILTERS, NBSP
from copycost.wording.numbers import format_cpu_list, format_size, parse_cpu_list, parse_size
from copycost.wording.words import changes_between


def plain(text: str) -> str:
    return text.replace(NBSP, " ")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("gbps", 38.24e9, "38.2 Gbit/s"),
        ("gbit", 0.45e9, "0.450"),
        ("exact_size", 65507, "65,507 B"),
        ("gbps", 45e6, "45.0 Mbit/s"),
        ("size", 23704.7, "23 KiB"),
        ("size", 12800, "12,800 B"),
        ("duration", 0.2, "0.20 s"),
        ("duration", 10.0, "10.0 s"),
        ("duration", 252.0, "4 min 12 s"),
        ("duration", 3599.7, "1 h 0 min"),
        ("ns", 1300.0, "1.30 µs"),
        ("percent", 1.0, "100 %"),
        ("percent", 0.0, "0 %"),
        ("percent", 0.9996, "over 99.9 %"),
        ("percent", 0.0002, "under 0.1 %"),
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


@given(st.integers(0, 31), st.integers(4, 8), st.integers(-300, 300))
def test_a_measured_size_reads_as_itself(power: int, eighths: int, aside: int) -> None:
    n_bytes = max((eighths << power >> 2) + aside, 0)
    assert parse_size(plain(filters.size(n_bytes)).replace(",", "")) == n_bytes


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


@pytest.mark.parametrize("text", ["64K", "64 kib", "1.5KiB", "-4KiB", "", "KiB", True])
def test_what_is_not_a_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a size"):
        parse_size(text)


@given(st.integers(min_value=0, max_value=1 << 40), st.sets(st.integers(0, 300)))
def test_what_is_written_is_read_back_the_same(n_bytes: int, cpus: set[int]) -> None:
    assert parse_size(format_size(n_bytes)) == n_bytes
    assert parse_cpu_list(format_cpu_list(cpus)) == sorted(cpus)


@pytest.mark.parametrize("text", ["a", "1-b", "1;2"])
def test_a_text_that_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        parse_cpu_list(text)


def test_every_change_of_the_host_is_named() -> None:
    known = {"kernel_release": "6.1", "n_cpus": 2, "mitigations": {"mds": "on", "l1tf": "on"}}
    now = {"kernel_release": "6.12", "governor": None, "mitigations": {"mds": "off", "l1tf": "on"}}
    assert changes_between(known, now) == [
        "kernel_release was 6.1, is 6.12",
        "mitigations.mds was on, is off",
        "n_cpus was 2, is unknown",
    ]
