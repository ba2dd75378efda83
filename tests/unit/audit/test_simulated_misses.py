"""What the audit cites of simulated caches."""

import csv

import pytest

from copycost.audit.plausibility.bounds import SIMULATED as PATH
from copycost.audit.plausibility.bounds import bytes_per_l1d_miss
from copycost.checkout import ROOT


def test_the_least_of_all_cells_over_loopback_is_cited() -> None:
    with (ROOT / PATH).open(newline="") as table:
        rows = [
            row
            for row in csv.DictReader(table)
            if (row["testbed"], row["level"]) == ("loopback", "l1d")
        ]
    assert {row["implementation"] for row in rows} == {"two_copy", "one_copy", "zero_copy"}
    least = min(float(row["total_misses_per_line"]) for row in rows)
    assert bytes_per_l1d_miss() == pytest.approx(64 / least)
    # a copy to the receiver alone reads and writes every line
    assert least > 2


def test_the_table_says_where_it_is_from() -> None:
    source = (ROOT / PATH).with_name("README.md").read_text(encoding="utf-8")
    with (ROOT / PATH).open(newline="") as table:
        sizes = {row["cache_bytes"] for row in csv.DictReader(table) if row["level"] == "l1d"}
    assert sizes == {str(48 << 10)}
    assert "48 KiB in 12 ways" in source
    assert "QEMU 7.2.22" in source
