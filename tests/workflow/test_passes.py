"""Passes behind the grid: more sizes where a verdict changes, more rounds where time is left."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from workflow.conftest import WholeRun
from workflow.support import Checkout

RUN = ("--cores", "2", "tables")

# In place of the rule's script: makes a record up, in which one_copy gets ahead at 20 KB.
MADE_UP = """
import json
import math
import zlib
from pathlib import Path

from copycost.grid.cells import Cell
from copycost.records.record import write_record
from copycost.snakefile.progress import STREAMS, count_in, say

cell = Cell.from_path(snakemake.output.record)
record = json.loads(Path("template.json").read_text())
del record["digest"]
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
record["start_ns"] = sum(1 for _ in Path("results/raw").rglob("*.json")) * 600_000_000
record["end_ns"] = record["start_ns"] + 500_000_000
record["wall_s"] = 0.5
write_record(record, Path(snakemake.output.record))
say(count_in("made up", STREAMS, snakemake.params.settings))
"""


@pytest.fixture
def made_up(finished: Checkout) -> Checkout:
    """A checkout in which nothing was measured, and every repetition will be made up at once."""
    two_copy = next(r for r in finished.records() if r["cell"]["implementation"] == "two_copy")
    (finished.path / "template.json").write_text(json.dumps(two_copy))
    use_noise(finished, 0.02)
    for path in (finished.path / "results/raw").rglob("*.json"):
        path.unlink()
    finished.configure("measure", repetitions=3)
    return finished


def use_noise(checkout: Checkout, noise: float) -> None:
    script = MADE_UP.replace("NOISE", str(noise))
    (checkout.path / "workflow/scripts/run_cell.py").write_text(script)


def sizes(checkout: Checkout) -> list[int]:
    with (checkout.path / "results/tables/cells.csv").open(newline="") as table:
        return sorted({int(row["msg_bytes"]) for row in csv.DictReader(table)})


def written(checkout: Checkout) -> dict[Path, int]:
    """Return when each record was written."""
    raw = checkout.path / "results/raw"
    return {path.relative_to(raw): path.stat().st_mtime_ns for path in raw.rglob("*.json")}


def rounds(checkout: Checkout) -> dict[int, int]:
    """Return how many repetitions of one_copy there are, by size."""
    cells = [record["cell"] for record in checkout.records()]
    return Counter(cell["msg_bytes"] for cell in cells if cell["implementation"] == "one_copy")


def test_added_sizes_narrow_the_bracket_and_a_rerun_measures_nothing(made_up: Checkout) -> None:
    made_up.configure("refine", enabled=True)
    dry = made_up.dry("tables").stdout
    assert "copycost: up to 120 more repetitions, about " in dry

    done = made_up.snakemake(*RUN).stdout
    assert (
        "copycost: 6 repetitions more where comparisons are open; loopback, 1 thread, one_copy: "
        "16 KiB." in done
    )
    assert "nothing more to measure" in done
    assert "[24/24] made up, 0 left" in done
    assert sizes(made_up) == [4096, 16384, 24576, 32768, 65536]  # around 20 000
    assert rounds(made_up) == dict.fromkeys(sizes(made_up), 3)
    before = written(made_up)
    assert len(before) == 30

    assert "nothing to be done" in made_up.snakemake(*RUN).stderr
    # another size: what was added before is chosen anew, and what is the same stays
    made_up.configure("streams", msg_bytes=["4KiB", "16KiB", "64KiB"])
    assert made_up.planned("tables").get("run_cell", 0) == 0
    made_up.snakemake(*RUN)
    assert sizes(made_up) == [4096, 16384, 24576, 32768, 65536]
    # without it, and again
    made_up.configure("refine", enabled=False)
    made_up.snakemake(*RUN)
    assert sizes(made_up) == [4096, 16384, 65536]
    made_up.configure("refine", enabled=True)
    made_up.snakemake(*RUN)
    assert sizes(made_up) == [4096, 16384, 24576, 32768, 65536]
    assert written(made_up) == before


def test_stated_minutes_are_used_up_and_what_was_measured_is_kept(made_up: Checkout) -> None:
    made_up.configure("streams", msg_bytes=[20_000, 65536])
    use_noise(made_up, 0.2)
    minutes = ("--config", "measure={minutes: 0.3}")
    assert (
        "copycost: 18 s hold 5 rounds of every cell; up to "
        in made_up.dry("tables", *minutes).stdout
    )
    done = made_up.snakemake(*RUN, *minutes).stdout
    assert "2 repetitions more where comparisons are open; further rounds of 1 cell." in done
    # 0.6 s each: 30 repetitions, 20 of them in the first rounds; 64 KiB is settled then
    assert rounds(made_up) == {20_000: 15, 65536: 5}
    before = written(made_up)
    assert "nothing to be done" in made_up.snakemake(*RUN, *minutes).stderr
    # more time goes on from there
    made_up.snakemake(*RUN, "--config", "measure={minutes: 0.4}")
    assert rounds(made_up) == {20_000: 25, 65536: 5}
    assert written(made_up).items() >= before.items()
    with (made_up.path / "results/tables/ratios.csv").open(newline="") as table:
        rows = [row for row in csv.DictReader(table) if row["metric"] == "throughput_bits_per_s"]
    pairs = {int(row["msg_bytes"]): int(row["n_pairs"]) for row in rows}
    assert pairs == rounds(made_up)


def test_rounds_that_were_asked_for_are_added_behind_all_and_stay(made_up: Checkout) -> None:
    made_up.configure("refine", enabled=True)
    made_up.snakemake(*RUN)
    before = written(made_up)
    more = made_up.path / "results/more.yaml"
    more.write_text("measure:\n  more_rounds: 2\n")
    said = made_up.dry("tables").stdout
    assert "copycost: 2 rounds of every cell beyond the usual ones" in said
    made_up.snakemake(*RUN)
    assert rounds(made_up) == dict.fromkeys(sizes(made_up), 5)
    after = written(made_up)
    assert after.items() >= before.items()
    assert {path.name for path in after.keys() - before.keys()} == {"rep=4.json", "rep=5.json"}
    assert "nothing to be done" in made_up.snakemake(*RUN).stderr
    more.write_text("measure:\n  more_rounds: many\n")
    refused = made_up.snakemake(*RUN, check=False)
    assert refused.returncode != 0
    assert "results/more.yaml: line 2: measure.more_rounds: got 'many', must be a whole number" in (
        refused.stdout + refused.stderr
    )


def test_without_passes_nothing_of_them_is_done(whole_run: WholeRun) -> None:
    assert not (whole_run.checkout.path / "results" / "passes").exists()
