"""The second pass: sizes around a crossover that the first one leaves open."""

import csv
import json
from typing import Any

from workflow.conftest import WholeRun
from workflow.support import Checkout

RUN = ("--cores", "2", "tables")


def make_crossover(checkout: Checkout) -> None:
    """Rewrite the records so that one_copy loses at 4 KiB and wins at 64 KiB, twofold."""
    factors = {("one_copy", 4096): 1, ("one_copy", 65536): 4}
    for path in (checkout.path / "results" / "raw").rglob("*.json"):
        record = json.loads(path.read_text())
        cell = record["cell"]
        factor = factors.get((cell["implementation"], cell["msg_bytes"]), 2)
        window = record["driver"]["sender"]["window"]
        # as many on both sides, whose windows differ a little: nothing is received but what is sent
        messages = factor * (window["end_ns"] - window["start_ns"]) // 100 // cell["msg_bytes"]
        for side in ("sender", "receiver"):
            _set_messages(record["driver"][side], messages, cell["msg_bytes"])
        del record["digest"]  # of what was measured
        path.write_text(json.dumps(record))


def _set_messages(side: dict[str, Any], messages: int, msg_bytes: int) -> None:
    """Let a side have sent or received so many, in numbers that agree with one another."""
    n_bytes = messages * msg_bytes
    side["in_window"] |= {"bytes": n_bytes, "first_half_bytes": n_bytes // 2}
    side["total"]["bytes"] = 2 * n_bytes
    if "messages" in side["total"]:
        side["in_window"]["messages"], side["total"]["messages"] = messages, 2 * messages
    for thread in side["threads"]:
        thread["bytes"] = n_bytes // len(side["threads"])


def sizes(checkout: Checkout) -> set[int]:
    with (checkout.path / "results/tables/cells.csv").open(newline="") as table:
        return {int(row["msg_bytes"]) for row in csv.DictReader(table)}


def test_added_sizes_are_measured_once_and_alone(finished: Checkout) -> None:
    make_crossover(finished)
    finished.configure("refine", enabled=True, max_cells=4)
    dry = finished.dry("tables").stdout
    assert "copycost: at most 8 more may follow, around open crossovers." in dry

    done = finished.snakemake(*RUN)
    assert (
        "copycost: sizes around open crossovers, 8 repetitions more: "
        "loopback, 1 thread, one_copy against two_copy: "
    ) in done.stdout
    assert "[8/8] loopback " in done.stdout
    assert len(finished.records()) == 8 + 8
    added = sizes(finished) - {4096, 65536}
    assert len(added) == 2
    assert all(4096 < size < 65536 for size in added)

    again = finished.snakemake(*RUN)
    assert "Nothing to be done" in again.stderr

    # what was added is left out where it is not wanted, and not measured again where it is
    finished.configure("refine", enabled=False)
    assert "run_cell" not in finished.planned("tables")
    finished.snakemake(*RUN)
    assert sizes(finished) == {4096, 65536}
    finished.configure("refine", enabled=True)
    finished.snakemake(*RUN)
    assert sizes(finished) == {4096, 65536} | added
    assert len(finished.records()) == 8 + 8


def test_without_the_second_pass_nothing_of_it_is_done(whole_run: WholeRun) -> None:
    assert not (whole_run.checkout.path / "results" / "refine").exists()
