"""Passes behind the grid: sizes where a verdict changes, and more where comparisons are open."""

import json
from collections import Counter
from pathlib import Path

import pytest
from workflow.support import Checkout

from tools.recompute.numbers import without_source, wrong_numbers
from tools.recompute.tables import wrong_tables

RUN = ("--cores", "2", "tables")

# In place of the rule's script: makes records up, in which one_copy gets ahead at 20 KB.
MADE_UP = """
import json
import math
import zlib
from dataclasses import replace
from pathlib import Path

from copycost.config.cells import Cell
from copycost.records.record import write_record
from copycost.snakefile.telling import tell_result

first = Cell.from_path(snakemake.output.record)
template = Path("template.json").read_text()
n_before = 5 * sum(1 for _ in Path("results/raw").rglob("*.json"))
records = []
for number in range(snakemake.params.repetitions):
    cell = replace(first, rep=first.rep + number)
    record = json.loads(template)
    record["cell"] = cell.key
    noise = (zlib.crc32(cell.path.encode()) / 2**32 - 0.5) * NOISE
    gain = 0.3 * math.log2(cell.msg_bytes / 20_000) if cell.implementation == "one_copy" else 0.0
    window = record["driver"]["sender"]["window"]
    window_ns = window["end_ns"] - window["start_ns"]
    for name in ("sender", "receiver"):
        side = record["driver"][name]
        messages = round(window_ns * math.exp(gain + noise) / cell.msg_bytes)
        n_bytes = messages * cell.msg_bytes
        side["in_window"] |= {"bytes": n_bytes, "first_half_bytes": n_bytes // 2}
        side["total"]["bytes"] = 2 * n_bytes
        if "messages" in side["total"]:
            side["in_window"]["messages"], side["total"]["messages"] = messages, 2 * messages
        side["threads"][0]["bytes"] = n_bytes
    record["driver"]["slices"] = [
        [0, 0, window_ns, n_bytes, 1, 1],
        [1, window_ns, 2 * window_ns, window_ns, 1, 1],
    ]
    record["start_ns"] = (n_before + number) * 600_000_000
    record["end_ns"] = record["start_ns"] + 500_000_000
    record["wall_s"] = 0.5
    records.append(record)
    tell_result("made up")
write_record(records, Path(snakemake.output.record))
"""


@pytest.fixture
def made_up(finished: Checkout) -> Checkout:
    """A checkout in which nothing was measured, and every repetition will be made up at once."""
    two_copy = next(r for r in finished.records() if r["cell"]["implementation"] == "two_copy")
    del two_copy["digest"]
    # what was measured here is left out of the comparison: both took the same CPU time
    driver = two_copy["driver"]
    same = {name: driver[name] for name in ("sender", "receiver")}
    driver["reference"] |= same | {"perf_stat": two_copy["observed"]["perf_stat"]}
    (finished.path / "template.json").write_text(json.dumps(two_copy))
    use_noise(finished, 0.02)
    for path in (finished.path / "results/raw").rglob("*.json"):
        path.unlink()
    finished.configure("streams", msg_bytes=["4KiB", "64KiB"])
    finished.configure("measure", repetitions=5, minutes=5)
    return finished


def use_noise(checkout: Checkout, noise: float) -> None:
    script = MADE_UP.replace("NOISE", str(noise))
    (checkout.path / "workflow/scripts/run_cell.py").write_text(script)


def sizes(checkout: Checkout) -> list[int]:
    return sorted({int(row["msg_bytes"]) for row in checkout.rows("cells")})


def written(checkout: Checkout) -> dict[Path, int]:
    """Return when each record was written."""
    raw = checkout.path / "results/raw"
    return {path.relative_to(raw): path.stat().st_mtime_ns for path in raw.rglob("*.json")}


def repetitions(checkout: Checkout) -> dict[int, int]:
    """Return how many repetitions of one_copy there are, by size."""
    cells = [record["cell"] for record in checkout.records()]
    return Counter(cell["msg_bytes"] for cell in cells if cell["implementation"] == "one_copy")


def test_added_sizes_narrow_the_bracket_and_a_rerun_measures_nothing(made_up: Checkout) -> None:
    assert "more repetitions, about 5 min, may follow where" in made_up.dry("tables").stdout
    done = made_up.snakemake(*RUN).stdout
    assert "more where comparisons are open; loopback, 1 thread, one_copy: 16 KiB" in done
    assert "nothing more to measure" in done
    assert sizes(made_up) == [4096, 16384, 24576, 32768, 65536]  # around 20 000
    before = written(made_up)
    made_up.snakemake("--cores", "2", "results/report/report.qmd")
    results = made_up.path / "results"
    assert [*wrong_tables(results), *wrong_numbers(results), *without_source(results)] == []

    assert "nothing to be done" in made_up.snakemake(*RUN).stderr
    # another size, which was measured, without what was added
    made_up.configure("streams", msg_bytes=["4KiB", "16KiB", "64KiB"])
    made_up.configure("measure", minutes="none")
    made_up.snakemake(*RUN)
    assert sizes(made_up) == [4096, 16384, 65536]
    assert written(made_up) == before


def test_stated_minutes_are_used_up_and_what_was_measured_is_kept(made_up: Checkout) -> None:
    made_up.configure("streams", msg_bytes=[20_000, 65536])
    use_noise(made_up, 0.4)
    minutes = ("--config", "measure={minutes: 0.5}")
    assert "the time is 30 s." in made_up.dry("tables", *minutes).stdout
    done = made_up.snakemake(*RUN, *minutes).stdout
    assert "5 repetitions more where comparisons are open; further ones of 1 cell." in done
    # 0.6 s each: 50 repetitions, 16 of them in the grid; 64 KiB is settled then
    assert repetitions(made_up) == {20_000: 30, 65536: 5}
    before = written(made_up)
    assert "nothing to be done" in made_up.snakemake(*RUN, *minutes).stderr
    # more time goes on from there
    made_up.snakemake(*RUN, "--config", "measure={minutes: 0.7}")
    assert repetitions(made_up)[20_000] > 30
    assert written(made_up).items() >= before.items()
    rows = [row for row in made_up.rows("ratios") if row["metric"] == "throughput_bits_per_s"]
    pairs = {int(row["msg_bytes"]): int(row["n_pairs"]) for row in rows}
    assert pairs == repetitions(made_up)
