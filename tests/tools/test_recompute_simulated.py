"""The recomputation of simulated counts, on a chapter that the package has written of records."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from golden.sentences import chapter
from simulated_tables import Truth, beside, facts_of, lost_record, records_of, walks

from copycost.config.simulated import FIGURES
from tools.recompute.document import Table
from tools.recompute.power import changed
from tools.recompute.text import Checker

CONFIG = """
statistics: {confidence: 0.95, resamples: 5000}
measure: {minutes: none}
"""
LOST = ("skipped", "the command qemu-system-x86_64 was not found", "install qemu-system-x86")
# what a change of the caches turns around, what takes more, and what does not change at all
TRUTHS = {
    "as usual": Truth(lost=[LOST], changed={"half_caches": 0.01}),
    "worse": Truth(user=0.0, deferred=3.0, variants=("plain",)),
    "moved": Truth(
        second=1.0,
        variants=("plain", "half_caches", "double_caches", "next_line", "rep_movsb", "sse2"),
        changed={"half_caches": 2.0},
    ),
    "alike": Truth(user=0.0, kernel=0.0),
}


def written(
    folder: Path, truth: Truth, more: Mapping[str, Any] | None = None, off: int = 21
) -> Checker:
    """Return what checks the chapter of some records, which lie in the folder."""
    records = [*records_of(truth), *map(lost_record, truth.lost)]
    for number, record in enumerate(records):
        path = folder / f"raw/simulated/{number}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record), encoding="utf-8")
    (folder / "config.yaml").write_text(CONFIG, encoding="utf-8")
    (folder / "simulated").mkdir()
    (folder / "simulated/walks.json").write_text(json.dumps(walks(off)), encoding="utf-8")
    facts = facts_of(truth) | {"walks": walks(off)} | (more or {})
    text = chapter("simulated", facts, list(FIGURES), "simulated_details")
    (folder / "report").mkdir()
    (folder / "report/report.qmd").write_text(f"---\n---\n\n{text}\n", encoding="utf-8")
    return Checker(folder)


@pytest.mark.parametrize("name", TRUTHS)
def test_every_number_follows_from_the_records(tmp_path: Path, name: str) -> None:
    found = list(written(tmp_path, TRUTHS[name]).findings())
    assert [one for one in found if one.verdict in ("differs", "not recomputed")] == []
    assert len(found) > 100


@pytest.mark.parametrize("share", [None, 0.0, 0.25])
def test_what_the_kernel_copied_after_all_is_followed(tmp_path: Path, share: float | None) -> None:
    one = {"testbed": "loopback", "implementation": "zero_copy", "copied_share": share}
    checker = written(tmp_path, TRUTHS["alike"], {"zero_copies": [one]})
    assert any(one.verdict == "differs" for one in checker.findings())
    for path in (tmp_path / "raw/simulated").glob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["cell"]["implementation"] == "zero_copy":
            n = record["sender"]["zero_copy"]["completed"]
            record["sender"]["zero_copy"]["copied"] = None if share is None else n * share
            path.write_text(json.dumps(record), encoding="utf-8")
    assert [one for one in Checker(tmp_path).findings() if one.verdict == "differs"] == []


def test_walks_that_were_counted_wrong_are_followed(tmp_path: Path) -> None:
    found = list(written(tmp_path, TRUTHS["alike"], off=4000).findings())
    assert [one for one in found if one.verdict in ("differs", "not recomputed")] == []
    assert any("counted wrong" in one.within for one in found)


def test_every_changed_number_is_found(tmp_path: Path) -> None:
    checker = written(tmp_path, TRUTHS["as usual"])
    others = [other for part in checker.parts for other in changed(checker, part)]
    missed = [
        other
        for other in others
        if not any(one.verdict == "differs" for one in checker.check(other))
    ]
    assert missed == []
    assert {isinstance(other, Table) for other in others} == {True, False}


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        # on the first page: the level, the functions, why, who pays
        ("| L1d\N{NO-BREAK SPACE}at", "| L2\N{NO-BREAK SPACE}at"),
        (
            "| 1\N{NO-BREAK SPACE}of\N{NO-BREAK SPACE}2 |",
            "| 2\N{NO-BREAK SPACE}of\N{NO-BREAK SPACE}2 |",
        ),
        (
            "| both together exceed 32\N{NO-BREAK SPACE}KiB | --- |",
            "| both together exceed 32\N{NO-BREAK SPACE}KiB | found, for the most part |",
        ),
        ("| the application (2.00) |", "| `do_syscall_64` (2.00) |"),
        ("| source from memory; both together exceed", "| both together exceed"),
        ("both together exceed", "both would fit into"),
        ("nobody with `zero_copy`", "the kernel with `zero_copy`"),
        # what survives
        ("caches of half the size; new pages", "caches of twice the size; new pages"),
        ("What was not tried: caches of twice", "What was not tried: caches of half"),
        ("What the tables above tell is among", "What the tables above tell is not among"),
        (
            "48\N{NO-BREAK SPACE}KiB under caches of half",
            "48\N{NO-BREAK SPACE}KiB under caches of twice",
        ),
        # how deep, and at which sizes
        ("Misses of the L2 cache fall too", "Misses of the last-level cache fall too"),
        ("They fall from 48\N{NO-BREAK SPACE}KiB up", "They fall at every size"),
        # in the appendix: sizes, source and target, who pays, rows that are left, marks
        ("application's copy at every size", "application's copy at 4\N{NO-BREAK SPACE}KiB"),
        ("With `zero_copy`, no line more", "With `one_copy`, no line more"),
        ("| 4 other functions |", "| 5 other functions |"),
        ("| 4 other functions |  | 5.10 |", "| 4 other functions |  | 5.20 |"),
        ("\\*\\* |", "\\* |"),
    ],
)
def test_a_changed_word_is_found(tmp_path: Path, said: str, instead: str) -> None:
    checker = written(tmp_path, TRUTHS["as usual"])
    path = tmp_path / "report/report.qmd"
    text = path.read_text(encoding="utf-8")
    assert said in text
    path.write_text(text.replace(said, instead, 1), encoding="utf-8")
    assert [one for one in checker.findings() if one.verdict == "differs"] == []
    assert any(one.verdict == "differs" for one in Checker(tmp_path).findings())


def test_a_changed_record_is_found(tmp_path: Path) -> None:
    checker = written(tmp_path, TRUTHS["as usual"])
    path = tmp_path / "raw/simulated/0.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    cell = record["cell"]
    record["counted"]["functions"]["sender"][0]["load_misses"]["l2"] += record["settings"][
        "messages"
    ] * (cell["msg_bytes"] // 64)
    path.write_text(json.dumps(record), encoding="utf-8")
    where = {one.section for one in Checker(tmp_path).findings() if one.verdict == "differs"}
    assert "sec-simulated-details" in where
    assert [one for one in checker.findings() if one.verdict == "differs"] != []


def test_what_the_processor_counted_is_held_against_the_measured_run(tmp_path: Path) -> None:
    checker = written(tmp_path, TRUTHS["alike"], {"beside": beside(TRUTHS["alike"])})
    cell = {"condition": "sink", "implementation": "two_copy", "msg_bytes": 49152, "n_threads": 1}
    counted = {"sender_l1d_load_misses_per_byte": 4.0 / 64, "sender_syscalls_per_message": 1.0}
    for factor in (1.0, 1.2):
        row = {"rep": 1, "status": "measured"} | {name: n * factor for name, n in counted.items()}
        checker.run.__dict__.update(streams=pd.DataFrame([cell | row]), round_trips=pd.DataFrame())
        checker.run.__dict__.pop("conditions", None)
        wrong = {one.within.split()[0] for one in checker.findings() if one.verdict == "differs"}
        assert wrong == (set() if factor == 1.0 else {"tbl-simulated-beside:", "The", "Where"})
