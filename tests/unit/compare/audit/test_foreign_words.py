"""An audit speaks of the table, and of nothing that nobody told."""

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from unit.compare.audit.made import PUBLISHED, honest, read_frame

from copycost.compare.audit import report
from copycost.compare.audit.dataset import Dataset
from copycost.compare.audit.facts import audit_facts
from copycost.compare.audit.mapping import FileMapping
from copycost.compare.audit.plausibility import check_plausibility
from copycost.compare.audit.reader import read_dataset

UNTOLD = (
    "this host", "this machine", "pinned", "perf", "page fault", "kernel marked", "namespace",
    "no zero-copy send", "cannot count", "eight pieces", "network card", "again and again",
    "error queue", "system calls per message", "processors", "came with a warning",
)  # fmt: skip
"""What a report of our own may say of its host and its run, and a table does not tell."""


def words_of(dataset: Dataset, folder: Path) -> str:
    """Return all text of an audit's report that is not in a table, on one line."""
    facts = audit_facts(dataset, check_plausibility(dataset), [], ["made.csv"])
    report.write_report(dataset, facts, folder, [])
    text = (folder / "report.qmd").read_text(encoding="utf-8")
    text = text.partition("---\n")[2].partition("---\n")[2]
    return " ".join(line for line in text.splitlines() if not line.startswith("|"))


KEYS = ["impl", "size", "threads", "rep"]
OTHERS = {"two_copy": "sendfile", "one_copy": "splice", "zero_copy": "rdma"}
TABLES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "all columns": lambda table: table,
    "one repetition": lambda table: honest(1).query("size <= 65536"),
    "totals without bytes": lambda table: table[[*KEYS, "latency_us", "cycles", "L1", "LLC"]],
    "without threads": lambda table: table[table["threads"] == 1].drop(
        columns=["threads", "bytes_received", "messages"]
    ),
    "others' programs": lambda table: table[[*KEYS, "throughput_gbps", "latency_us"]].assign(
        impl=table["impl"].map(OTHERS)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*TABLES, "i5-10500", "ryzen-7840hs"])
def test_nothing_is_said_that_nobody_told(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "AUDIT_FIGURES", ())
    if name in TABLES:
        # a mapping tells of the caches of a host, which is not this one
        mapping = FileMapping(host={"l1d_bytes": 32768, "llc_bytes": 12582912, "cpus": 8})
        dataset = read_frame(TABLES[name](honest().query("size <= 65536")), tmp_path, mapping)
    else:
        dataset = read_dataset(PUBLISHED / f"{name}.csv", FileMapping())
    text = words_of(dataset, tmp_path)
    said = [words for words in UNTOLD if re.search(rf"\b{words}", text.lower())]
    assert not said
    if name == "totals without bytes":  # they are not said to be uncounted
        assert "It has total misses, but not their number of bytes" in text
