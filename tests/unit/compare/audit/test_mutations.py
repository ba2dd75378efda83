"""Whatever a table, a mapping or a file of claims holds: a report, or one clear sentence."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from copycost.compare.audit import report
from copycost.compare.audit.command import audit_file
from copycost.errors import ConfigError, DataError
from tests.mutations import mutated_texts, mutated_trees

TABLES = (
    "impl,size,threads,gbps,cycles\n"
    "A1,1024,1,5.25,120400\nA1,65536,1,30.1,640200\nA2,1024,1,4.9,110300\nA2,65536,1,33.2,522100\n",
    "host;impl;size;threads;rep;latency [us];bytes;seconds;L1\n"
    "x;A1;4 KiB;1;1;2,5;1000000;0,5;2040\nx;A1;4 KiB;1;2;2,6;1010000;0,5;2101\n"
    "x;A3;4 KiB;1;1;3,5;900000;0,5;1950\ny;A3;4 KiB;2;1;3,4;905000;0,5;1933\n",
    "algorithm\tmsg size\tMB/s\tcycles_per_byte\tcopied\tcpu_time_s\n"
    "sendfile\t1000\t512.25\t1.25\t0.5\t1.5\nsplice\t1000\t640.5\t1.375\t1\t1.25\n",
)
MAPPING = """\
columns: {gbps: {is: throughput, unit: Gbit/s}, cycles: ignore}
implementations: {A1: two_copy}
constants: {duration: 2}
decimal: "."
source: {author: somebody}
host: {cpus: 8, l2_bytes: 262144}
"""
CLAIMS = """\
claims:
- claim: more
  compare: {metric: rate, implementation: A2, with: A1, is: more, from_size: 4KiB, below: less}
  threads: [1, 2]
- claim: fall
  change: {metric: cycles, from: {size: 1KiB}, to: {size: 64KiB}, is: falls, percent: 20}
  question: 2
- rank: {metric: throughput, implementation: A1, is: best}
- value: {metric: cycles, is: above, than: 5, implementations: [A1]}
  dataset: x
- measurements: {metrics: [cycles, throughput]}
- compare: {metric: throughput, implementation: A2, with: A1, is: less, at_least: 2, at_most: 3}
- two copies are best
"""
ODD = (
    "", "0", "-0.0", "1e308", "1e-400", "9" * 5000, "1e" + "9" * 5000, "nan", "inf", "1,5", "0x10",
    "64 KiB", "5 parsec", "1e5 GB/s", "true", "~", "[]", "{a: {b: c}}", "&a [*a]", "!!python/none",
    "2024-13-45", "? [x]", '"', "|", ";", "\t", "\n", "\x00", "\u2028", "\ufeff", "\u0661",
    "two_copy", "{{ 7 }}", "%", "../x", "x" * 200, "throughput", "1" * 18, "4096.5", "-1", "3",
    "0.001", "1e21", "-1e21", "0.1234567890123456789",
)  # fmt: skip


def spoilt_files(name: str) -> Iterator[dict[str, str]]:
    """Yield tables with a mapping and claims, one file of which is damaged each time."""
    files = {"table.csv": TABLES[0], "mapping.yaml": MAPPING, "claims.yaml": CLAIMS}
    if name == "table.csv":
        for table in TABLES:
            for text in mutated_texts(table, 17, 1, ODD):
                yield files | {name: text, "mapping.yaml": "{}"}
    else:
        for tree in mutated_trees(yaml.safe_load(files[name]), 50, 1):
            yield files | {name: yaml.safe_dump(tree)}


@pytest.mark.slow
@pytest.mark.parametrize("spoilt", ["table.csv", "mapping.yaml", "claims.yaml"])
def test_a_report_or_one_clear_sentence(
    spoilt: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "AUDIT_FIGURES", ())
    ended = Counter[str]()
    for files in spoilt_files(spoilt):
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        paths = (tmp_path / name for name in (*files, "out"))
        try:
            audit_file(*paths, formats=[], as_json=ended["report"] % 10 > 0)
            ended["report"] += 1
        except (ConfigError, DataError) as error:
            for line in str(error).splitlines():
                assert line.startswith(str(tmp_path)), (files[spoilt], line)
                assert len(line) < 1000, (files[spoilt], line)
            ended["refused"] += 1
    assert min(ended["report"], ended["refused"]) > 5, ended
