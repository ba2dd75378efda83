"""Values in the sentences of the answers, and the answers' tables."""

import pytest
from analysed import facts_of
from golden.analysis_facts import EVEN, ONCE, UP
from synthetic import Run

from copycost.report import answer_values as values
from copycost.report.answer_tables import expectations_table, quality_table, unmeasured_checks
from copycost.wording.filters import NBSP
from copycost.wording.warnings import warnings

L2 = {"level": "l2", "size_bytes": 2097152, "share": 0.0625, "n_threads": None}
LLC = {"level": "llc", "size_bytes": 33554432, "share": 1.5, "n_threads": 4}


def plain(text: str) -> str:
    return text.replace(NBSP, " ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (values.cache("llc_load_misses"), "the last-level cache"),
        (values.caches([L2, LLC]), "the L2 cache or the last-level cache"),
        (
            values.cache_shares([L2, LLC]),
            "the L2 cache (6.2 % of its 2 MiB) and the last-level cache (1.5 times its 32 MiB for "
            "4 threads)",
        ),
        (values.interval_of(UP, 0.95), "(95 % interval 1.22 to 1.41)"),
        (values.interval_of(ONCE, 0.95), "(observed once, no interval)"),
        (
            values.ratios_by_implementation([EVEN | {"implementation": "one_copy"}], 0.95),
            "1.02 for `one_copy` (95 % interval 0.94 to 1.11)",
        ),
        (values.at_sizes([1024], [1024]), "at 1 KiB"),
        (values.at_sizes([1024, 4096], [1024, 4096]), "at every size"),
        (values.at_sizes([1024], [1024, 4096]), "at 1 KiB"),
        (values.at_sizes([256, 4096], [256, 4096, 65536]), "up to 4 KiB"),
        (values.at_sizes([4096, 65536], [256, 4096, 65536]), "from 4 KiB up"),
        (values.at_sizes([256, 65536], [256, 4096, 65536]), "at 256 B and 64 KiB"),
        (values.bracket({"below_bytes": 4096, "above_bytes": 16384}), "between 4 and 16 KiB"),
        (values.bracket({"below_bytes": 256, "above_bytes": 1024}), "between 256 B and 1 KiB"),
        (values.all_of(1, "cell"), "the one cell"),
        (values.all_of(9, "cell"), "all 9 cells"),
        (values.each_of(1, "cell"), "the one cell"),
        (values.each_of(9, "cell"), "each of the 9 cells"),
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


def test_tables_have_a_row_for_each_expectation_and_check_that_was_measured() -> None:
    veth = facts_of(Run(msg_bytes=(1024, 65536), n_threads=(1,)))["conditions"]["veth"]
    tested = [row for row in veth["questions"]["q6"]["expectations"] if row["n_tested"]]
    table = plain(expectations_table(veth))
    assert len(table.splitlines()) == 2 + len(tested) + 2
    assert all(f"| {row['statement']} | {row['n_held']} |" in table for row in tested)
    checks = plain(quality_table(veth))
    assert "| Measured repetitions | under 3 | 0 | 3 | none | none flagged |" in checks
    assert checks.endswith("{#tbl-veth-quality}")
    unknown = [gate for gate in veth["quality"]["gates"] if not gate["worst"]]
    assert len(checks.splitlines()) == 2 + len(veth["quality"]["gates"]) - len(unknown) + 2
    assert unmeasured_checks(veth).count("repetitions") <= len(unknown)
