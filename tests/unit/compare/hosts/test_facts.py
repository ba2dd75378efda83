"""What is said of hosts in general follows from what holds on each of them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sample_records import guest_entry, in_guests, with_round_trips
from unit.compare.hosts.made import host_facts, records_of, write_run

from copycost.analysis.json_values import plain
from copycost.analysis.metrics import THROUGHPUT
from copycost.compare.hosts.facts import _n_planned, pairs_of
from copycost.compare.hosts.fleet import gather, judge
from copycost.compare.hosts.import_archive import read_parcel
from copycost.compare.hosts.merging import merge
from tools.recompute.fleet import _values


@pytest.mark.parametrize(
    ("ratios", "sure", "verdict", "holds"),
    [
        ([4.65, 1.43, 1.49], [True] * 3, "some hosts", "open"),
        ([1.1, 0.92, 1.5], [False, False, True], "some hosts", "open"),
        ([1.1, 0.92, 1.5], [False] * 3, "open", "open"),
        ([4.65, 0.43, 1.49], [True] * 3, "it depends", "depends"),
        ([2.0, 1.4, 3.1, 1.3, 2.5, 1.6], [True] * 6, "the mean", "open"),
        ([1.4, 1.41, 1.39] * 4, [True] * 12, "every host", "better"),
        ([1.4, 1.41, 1.39] * 40 + [0.98], [False] * 120 + [True], "all but a few", "open"),
        ([1.4, 1.41, 1.39] * 40 + [0.98], [True] * 121, "all but a few", "depends"),
        ([0.6, 0.61, 0.59] * 40 + [1.02], [True] * 121, "all but a few", "depends"),
        ([1.4, 1.5], [True] * 2, "too few hosts", "open"),
        ([1.4, 0.5], [True] * 2, "it depends", "depends"),
    ],
)
def test_a_verdict_contradicts_no_host(
    ratios: list[float], sure: list[bool], verdict: str, holds: str
) -> None:
    rows = pd.DataFrame({
        "host": [f"h{number}" for number in range(len(ratios))],
        "condition": "veth", "implementation": "zero_copy", "baseline": "two_copy",
        "metric": THROUGHPUT, "msg_bytes": 65536, "n_threads": 1, "n_pairs": 1000,
        "ratio": ratios, "low": np.array(ratios) * np.exp(-0.02),
        "high": np.array(ratios) * np.exp(0.02), "p_value": np.where(sure, 1e-6, 0.5),
    })  # fmt: skip
    crossovers = ["condition", "implementation", "baseline", "metric", "n_threads", "host",
                  "outcome", "below_bytes", "above_bytes"]  # fmt: skip
    (pair,) = plain(list(pairs_of(judge(rows, pd.DataFrame(columns=crossovers)))))
    (quantity,) = pair["quantities"]
    assert quantity["point"]["holds_for"] == verdict
    assert [name for name, sizes in quantity["holds"].items() if sizes] == [holds]


def test_a_host_was_to_measure_what_its_configuration_says(tmp_path: Path) -> None:
    """Of a node whose job ended early the report says "3 of 24"."""
    grid = {
        "implementations": ["two_copy", "one_copy"], "msg_bytes": ["1KiB", 65536],
        "testbeds": ["veth"], "n_threads": [1], "working_sets": ["hot"], "receivers": ["recv"],
        "placements": ["apart"],
    }  # fmt: skip
    trips = {name: grid[name] for name in grid if name not in ("working_sets", "receivers")}
    udp = grid | {"testbeds": ["sink"], "implementations": [], "msg_bytes": [1024]}
    measure = {"repetitions": 4, "minutes": "none", "warmup_s": 0.05, "duration_s": 0.2}
    config = {"streams": grid, "udp": udp, "round_trips": trips, "measure": measure}
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    assert _n_planned(path) == 24
    path.write_text(json.dumps(config | {"streams": ["nonsense"]}))
    assert _n_planned(path) == _n_planned(tmp_path / "none.json") == 0


@pytest.mark.slow
def test_an_emulated_guest_is_no_host_to_compare_and_recomputation_leaves_it_out(
    tmp_path: Path,
) -> None:
    places = {"tcg": {"veth"}, "kvm": {"veth", "vm_loopback"}}
    for name in places:
        entry = guest_entry("g", "sender", "receiver", accelerator=name)
        streams, trips = (
            [in_guests(one, entry) for one in records_of(start_s=start_s, testbed="vm_loopback")]
            for start_s in (1000, 2000)
        )
        records = [*records_of(), *streams, *map(with_round_trips, trips)]
        folder = write_run(tmp_path / name, records, host_facts(kernel_release=name))
        merge(read_parcel(folder, name), tmp_path / "fleet")
    hosts = gather(tmp_path / "fleet").hosts
    assert {name: of.n_emulated for name, of in hosts.items()} == {"tcg": 12, "kvm": 0}
    for name, of in hosts.items():
        recomputed = _values(tmp_path / "fleet" / f"host={name}")
        for found in (of.ratios["condition"], of.crossovers["condition"],
                      recomputed["throughput_bits_per_s"]):  # fmt: skip
            assert set(found) == places[name]
