import pytest
from hypothesis import given
from hypothesis import strategies as st

from copycost.wording.numbers import format_cpu_list, parse_cpu_list


@given(st.sets(st.integers(0, 300)))
def test_parsing_undoes_formatting(cpus: set[int]) -> None:
    assert parse_cpu_list(format_cpu_list(cpus)) == sorted(cpus)


def test_lines_of_the_kernel_are_read() -> None:
    assert parse_cpu_list("0-2,8\n") == [0, 1, 2, 8]
    assert parse_cpu_list("\n") == []


@pytest.mark.parametrize("text", ["a", "1-b", "1;2"])
def test_a_text_that_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        parse_cpu_list(text)
