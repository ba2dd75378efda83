"""What the independent recomputation makes of records."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sample_records import beside, sample_record, with_round_trips
from scipy import stats
from simulated_tables import CATEGORIES, Truth, lost_record, records_of
from skipped_records import save

from copycost.records.record import cell_of
from copycost.studies.round_trips.table import collect_round_trips
from copycost.studies.simulated.table import collect
from tools.recompute import estimates
from tools.recompute.decisions import decision_table
from tools.recompute.run import Run, pair_of, relative_of
from tools.recompute.tables import wrong_tables

CONFIG = """
statistics: {confidence: 0.95, resamples: 5000}
measure: {minutes: none}
"""


def test_ways_are_compared_by_what_each_came_to_beside_its_reference() -> None:
    """The first size has a reference, which was another one once; the second has none."""
    rows = pd.DataFrame(
        [
            ("one_copy", 64, 1, 6.0, "two_copy", 2.0),
            ("one_copy", 64, 2, 6.0, "one_copy", 6.0),
            ("zero_copy", 64, 1, 5.0, "two_copy", 5.0),
            ("two_copy", 64, 1, 9.0, "two_copy", 8.0),
            ("one_copy", 4096, 1, 3.0, None, math.nan),
            ("two_copy", 4096, 1, 2.0, None, math.nan),
        ],
        columns=["implementation", "msg_bytes", "rep", "speed", "reference", "reference_speed"],
    ).assign(n_threads=1)
    logs = relative_of(rows, "speed")
    for pair, ratios in (
        (("one_copy", "two_copy"), [[3.0, math.nan], [1.5, math.nan]]),
        (("one_copy", "zero_copy"), [[3.0, math.nan]]),
    ):
        assert np.exp(pair_of(logs, *pair)).to_numpy() == pytest.approx(
            np.array(ratios), nan_ok=True
        )


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.5, 9.0, 9.5], [1.0, 2.0, 4.0, 9.0]])
def test_the_chances_of_resampled_medians_are_those_of_all_resamples(values: list[float]) -> None:
    every = np.log(list(itertools.product(values, repeat=len(values))))
    error = np.median(every, axis=1).std()
    found = estimates.median(np.array(values), 0.95)
    t = stats.t.ppf(0.975, len(values) - 1)
    assert math.log(found.high / found.value) == pytest.approx(t * error)


ASKED = """
round_trips:
  implementations: [two_copy, one_copy]
  msg_bytes: [4096]
  n_threads: [1]
  placements: [apart]
streams: {placements: []}
udp: {placements: []}
"""


def test_round_trips_in_turns_are_compared_by_the_ratio_of_each_repetition(tmp_path: Path) -> None:
    paths = []
    for rep, (name, factor) in itertools.product((1, 2, 3), (("two_copy", 1.0), ("one_copy", 1.5))):
        own, its = (with_round_trips(sample_record(one, msg_bytes=4096, rep=rep))
                    for one in (name, "two_copy"))  # fmt: skip
        for record, times in ((own, factor), (its, 1.0)):
            # its level is another one in each repetition
            p50_ns = 20_000.0 * times * (rep + 3 * (name == "one_copy"))
            record["driver"]["sender"]["round_trip"]["p50_ns"] = p50_ns
        its["driver"]["sender"]["round_trip"]["samples"] //= 4
        its["observed"]["perf_stat"]["sender"]["events"]["task_clock_ns"]["value"] *= 3
        paths.append(save(tmp_path, cell_of(own), beside(own, its)))
    results = tmp_path / "results"
    (results / "config.yaml").write_text(CONFIG.replace("none}", "none, repetitions: 3}") + ASKED)
    tables = results / "tables"
    tables.mkdir()
    table, _ = collect_round_trips(paths, tables / "round_trips.csv", tables / "curves.csv")
    assert list(wrong_tables(results)) == []
    answer = decision_table(Run(results), "veth", trips=True)[0].answers["fastest"]
    assert answer.ways == ["two_copy"]
    for name in ("p50_ns", "reference_p50_ns", "reference_both_cpu_ns_per_round_trip"):
        wrong = table.assign(**{name: table[name] * 1.07})
        wrong.to_csv(tables / "round_trips.csv", index=False)
        lines = list(wrong_tables(results))
        assert len(lines) == 6
        assert all(f": {name} is" in line for line in lines)


def test_tables_of_simulated_counts_follow_from_the_records(tmp_path: Path) -> None:
    lost = lost_record(("skipped", "the command qemu-system-x86_64 was not found", "install it"))
    paths = []
    for record in (*records_of(Truth()), lost):
        cell = "/".join(f"{name}={value}" for name, value in record["cell"].items())
        paths.append(tmp_path / f"raw/simulated/{cell}.json")
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        paths[-1].write_text(json.dumps(record), encoding="utf-8")
    (tmp_path / "config.yaml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "tables").mkdir()
    cells, functions = collect(paths, CATEGORIES)
    cells.to_csv(tmp_path / "tables/simulated.csv", index=False)
    functions.to_csv(tmp_path / "tables/simulated_functions.csv", index=False)
    assert list(wrong_tables(tmp_path)) == []
    record = json.loads(paths[0].read_text(encoding="utf-8"))
    record["counted"]["functions"]["sender"][0]["load_misses"]["l2"] += 1
    paths[0].write_text(json.dumps(record), encoding="utf-8")
    wrong = list(wrong_tables(tmp_path))
    assert {line.split(":")[0] for line in wrong} == {"simulated.csv", "simulated_functions.csv"}
    assert all("l2" in line for line in wrong)
