"""A new way to send: one C file and one word in the configuration, as CONTRIBUTING.md says."""

import shutil

import pytest
from workflow.support import ROOT, Checkout

NEW = ROOT / "tests/data/strategies/field_by_field.c"


def rows(checkout: Checkout) -> dict[str, dict[str, str]]:
    """Return the rows of messages of 4 KiB by implementation."""
    found = [row for row in checkout.rows("cells") if row["msg_bytes"] == "4096"]
    return {row["implementation"]: row for row in found}


@pytest.mark.slow
def test_new_file_and_config_value_are_all_it_takes(finished: Checkout) -> None:
    checkout, known = finished, rows(finished)
    shutil.copy(NEW, checkout.path / "src/strategies")
    ways = ["two_copy", "one_copy", "field_by_field"]
    checkout.configure("streams", implementations=ways, msg_bytes=["4KiB"])
    checkout.snakemake("--cores", "1", "results/report/report.qmd")

    table = rows(checkout)
    new = table.pop("field_by_field")
    assert table == known, "what was known is not measured again"
    assert new["status"] == "measured", new["reason"]
    assert float(new["throughput_bits_per_s"]) > 0
    # eight calls per message: it is the new file that was measured
    assert float(new["sender_syscalls_per_message"]) == pytest.approx(8, rel=0.1)
    # and what the report says of it is what its header comment says
    report = (checkout.path / "results/report/report.qmd").read_text()
    assert "| `field_by_field` | 1: `send(2)` | 8 `send(2)`, one per field | any |" in report
    assert "what an application does that has not heard of iovecs" in report
