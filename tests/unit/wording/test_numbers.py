"""Sizes and CPU lists: written as people and the kernel write them, and read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copycost.wording.numbers import format_cpu_list, format_size, parse_cpu_list, parse_size
from copycost.wording.words import changes_between


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [(4096, 4096), ("256", 256), ("1 B", 1), ("64KiB", 65536), ("2 MiB", 2 << 20)],
)
def test_sizes_are_read_as_people_write_them(text: int | str, n_bytes: int) -> None:
    assert parse_size(text) == n_bytes


@pytest.mark.parametrize("text", ["64K", "64 kib", "1.5KiB", "-4KiB", "", "KiB", True])
def test_what_is_not_a_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a size"):
        parse_size(text)


@given(st.integers(min_value=0, max_value=1 << 40))
def test_a_written_size_is_read_back_the_same(n_bytes: int) -> None:
    assert parse_size(format_size(n_bytes)) == n_bytes


@given(st.sets(st.integers(0, 300)))
def test_a_written_list_of_cpus_is_read_back_the_same(cpus: set[int]) -> None:
    assert parse_cpu_list(format_cpu_list(cpus)) == sorted(cpus)


@pytest.mark.parametrize("text", ["a", "1-b", "1;2"])
def test_a_text_that_is_no_list_is_refused(text: str) -> None:
    assert parse_cpu_list("0-2,8\n") == [0, 1, 2, 8]
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
