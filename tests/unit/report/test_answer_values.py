"""Values in the sentences of the answers."""

import pytest

from copycost.report import answer_values as values
from copycost.wording.filters import NBSP, interval_of, warnings

UP = {"value": 1.31, "low": 1.22, "high": 1.41}
ONCE = {"value": 1.31, "low": None, "high": None}


def plain(text: str) -> str:
    return text.replace(NBSP, " ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (values.cache("llc_load_misses"), "the last-level cache"),
        (interval_of(UP, 0.95), "(95 % interval 1.22 to 1.41)"),
        (interval_of(ONCE, 0.95), "(observed once, no interval)"),
        (values.at_sizes([1024], [1024]), "at 1 KiB"),
        (values.at_sizes([1024, 4096], [1024, 4096]), "at every size"),
        (values.at_sizes([1024], [1024, 4096]), "at 1 KiB"),
        (values.at_sizes([256, 4096], [256, 4096, 65536]), "up to 4 KiB"),
        (values.at_sizes([4096, 65536], [256, 4096, 65536]), "from 4 KiB up"),
        (values.at_sizes([256, 65536], [256, 4096, 65536]), "at 256 B and 64 KiB"),
        (values.all_of(1, "cell"), "the one cell"),
        (values.all_of(9, "cell"), "all 9 cells"),
        (values.counted_span(3, 3, "round"), "three rounds"),
        (values.counted_span(1, 3, "round"), "one to three rounds"),
        (warnings({"steal": 3, "new": 1}), "the hypervisor took CPU time away (3) and `new` (1)"),
    ],
)
def test_value(text: str, expected: str) -> None:
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (
            {
                "implementation": "zero_copy",
                "baseline": "two_copy",
                "msg_bytes": 1024,
                "n_threads": 2,
            },
            "`zero_copy` against `two_copy`, 1 KiB, 2 threads",
        ),
        (
            {"implementation": "two_copy", "from_threads": 2, "to_threads": 4, "msg_bytes": 1024},
            "`two_copy`, from 2 to 4 threads, 1 KiB",
        ),
        (
            {"implementation": "one_copy", "hot": "sink", "from_bytes": 64, "to_bytes": 1024},
            "`one_copy`, compared with `sink`, from 64 B to 1 KiB",
        ),
    ],
)
def test_case_names_all_that_is_compared(where: dict[str, str | int], expected: str) -> None:
    assert plain(values.case(where)) == expected
