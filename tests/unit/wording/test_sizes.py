import pytest
from hypothesis import given
from hypothesis import strategies as st

from copycost.wording.numbers import format_size, parse_size


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        (4096, 4096),
        ("256", 256),
        ("1 B", 1),
        ("64KiB", 65536),
        ("64 KiB", 65536),
        ("2MiB", 2 << 20),
    ],
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


@pytest.mark.parametrize(
    ("n_bytes", "text"), [(65536, "64 KiB"), (1 << 20, "1 MiB"), (1500, "1500 B"), (1, "1 B")]
)
def test_a_size_is_written_with_the_largest_unit_that_divides_it(n_bytes: int, text: str) -> None:
    assert format_size(n_bytes) == text
