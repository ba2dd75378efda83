"""What is independent, what stands, and what differs."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from unit.compare.runs.made import Made, slower_by, write_results

from copycost.compare.runs.facts import compare_runs
from copycost.compare.runs.gates import Gate, gate_line, parse_gate
from copycost.compare.runs.report import verdict_of
from copycost.compare.runs.results import (
    CELL,
    QUANTITIES,
    Cell,
    Sides,
    read_results,
    round_means,
    sides_of,
)
from copycost.compare.runs.verdicts import (
    MEASURED_SPREAD,
    RunSpread,
    judge,
    spread_of_runs,
)

NONE = RunSpread(0.0, 0.0, math.inf)
CELLS: list[Cell] = [
    ("streams", "veth", name, size, 1)
    for name in ("one_copy", "two_copy")
    for size in (1024, 4096, 16384)
]
LATER = 100_000


def sides(a: list[np.ndarray], b: list[np.ndarray]) -> Sides:
    return Sides(CELLS[: a[0].shape[1]], tuple(a), tuple(b))


def noise(seed: int, n_rounds: int = 5, size: float = 0.01) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, size, (n_rounds, len(CELLS)))


def compared(tmp_path: Path, a: list[Made], b: list[Made], gates: list[Gate] | None = None) -> Any:  # noqa: ANN401
    results = [
        [read_results(write_results(tmp_path / f"{name}{k}", made)) for k, made in enumerate(of)]
        for name, of in (("a", a), ("b", b))
    ]
    return compare_runs(*results, gates=gates or [])


def test_one_run_each_is_welch_on_logarithms_with_the_runs_spread() -> None:
    a, b = noise(1)[:, :1], noise(2, size=0.03)[:, :1] + 0.1
    plain = judge(sides([a], [b]), NONE).cells[CELLS[0]].found
    expected = stats.ttest_ind(b[:, 0], a[:, 0], equal_var=False)
    assert plain.p_value == pytest.approx(expected.pvalue)
    assert np.log(plain.interval(0.95)) == pytest.approx(expected.confidence_interval(0.95))
    allowed = judge(sides([a], [b]), RunSpread(0.04, 0.02, math.inf)).cells[CELLS[0]].found
    assert allowed.error**2 == pytest.approx(plain.error**2 + 2 * 0.04**2)
    assert allowed.mean == plain.mean


def test_of_several_runs_the_runs_are_what_is_independent() -> None:
    logs = [noise(k, size=0.001) + shift for k, shift in enumerate([0.0, 0.1, -0.1, 0.05])]
    for n_cells in (1, len(CELLS)):
        runs = [one[:, :n_cells] for one in logs]
        expected = stats.ttest_ind(*([one.mean() for one in runs[k : k + 2]] for k in (2, 0)))
        whole = judge(sides(runs[:2], runs[2:]), MEASURED_SPREAD).whole
        assert whole.found.p_value == pytest.approx(expected.pvalue)


def test_a_cell_whose_runs_agree_by_chance_is_no_surer_than_half_of_the_cells() -> None:
    runs = [noise(k, n_rounds=2, size=0.1) for k in range(6)]
    for k, logs in enumerate(runs):
        logs[:, 0] = 1e-4 * k + (0.05 if k % 2 else 0.0)  # the first cell of all runs, alike
    first = [logs[:, :1] for logs in runs]
    assert judge(sides(first[::2], first[1::2]), MEASURED_SPREAD).cells[CELLS[0]].sign == 1
    found = judge(sides(runs[::2], runs[1::2]), MEASURED_SPREAD)
    assert found.cells[CELLS[0]].sign == 0
    errors = [verdict.found.error for verdict in found.cells.values()]
    assert min(errors) == sorted(errors)[2], "the lower half is made the median of six"


def test_the_spread_from_run_to_run_is_found_without_that_of_the_rounds() -> None:
    rng = np.random.default_rng(3)
    runs = []
    for k in range(30):
        cells = math.sqrt(0.05**2 - 0.03**2) * rng.normal(size=len(CELLS))
        runs.append(noise(k, size=0.1) + 0.03 * rng.normal() + cells)
    found = spread_of_runs(sides(runs[:15], runs[15:]))
    assert found is not None
    assert found.cell == pytest.approx(0.05, rel=0.3)
    assert found.whole == pytest.approx(math.sqrt(0.03**2 + 0.04**2 / 6), rel=0.3)


def test_cells_together_are_their_mean_in_each_round_and_gaps_do_not_tilt_it() -> None:
    logs = noise(1) + 10.0 * np.arange(len(CELLS))
    means = logs.mean(axis=1)
    assert round_means(logs, range(6)) == pytest.approx(means)
    logs[-1, 5] = np.nan  # of the highest cell: the others' mean must not fall for it
    assert round_means(logs, range(6)) == pytest.approx(means, abs=0.01)
    logs[0, :3] = np.nan
    assert round_means(logs, range(6)).size == 4, "most of the cells lack the first round"


def test_cells_that_contradict_each_other_have_no_mean_and_silence_tells_nothing(
    tmp_path: Path,
) -> None:
    def split(rows: Any) -> Any:  # noqa: ANN401
        return np.where(rows["implementation"] == "zero_copy", 0.6, 1.3)

    facts = compared(
        tmp_path, [Made()], [Made(seed=2, start_s=LATER, factor=split)], [parse_gate("slower:25%")]
    )
    throughput = facts["quantities"][0]
    assert throughput["contradicts"]
    assert verdict_of(throughput)[:3] == ["none", "none", "better and worse"]
    slower = {one["implementation"] for one in throughput["ways"] if one["verdict"] == "slower"}
    assert slower == {"zero_copy"}
    (gate,) = facts["gates"]
    assert (gate["fails"], gate["contradicts"], gate["cannot_tell"]) == (False, True, True)
    assert "in every cell that could have been shown" in gate_line(gate)


def test_cells_that_a_run_took_over_are_not_compared(tmp_path: Path) -> None:
    a = write_results(tmp_path / "a")
    b = write_results(tmp_path / "b", Made(seed=2, start_s=LATER))
    one, other = read_results(a), read_results(b)
    kept = one.repetitions["implementation"] == "two_copy"
    rows = other.repetitions.copy()
    rows.loc[kept, :] = one.repetitions[kept]
    facts = compare_runs([one], [replace(other, repetitions=rows)])
    names = {cell["implementation"] for q in facts["quantities"] for cell in q["cells"]}
    assert "two_copy" not in names
    assert facts["n_shared"] == 5 + 3


def test_cells_of_guests_that_one_side_emulates_are_told(tmp_path: Path) -> None:
    facts = compared(tmp_path, [Made(columns={"accelerator": "tcg"})], [Made(start_s=LATER)])
    cells = {tuple(cell[key] for key in CELL) for q in facts["quantities"] for cell in q["cells"]}
    assert facts["guests"] == {"n_emulated": 0, "n_one_side": len(cells)}


def test_what_differs_is_named_by_group(tmp_path: Path) -> None:
    other = Made(
        seed=2, start_s=LATER, boot="1" * 32, host={"kernel_release": "6.19.0"},
        measure={"duration_s": 2.0},
        columns={
            "commit": "f" * 40, "congestion_control": "bbr",
            "sender_build": "source fedcba9876543210, clang 19, flags -O3",
        },
    )  # fmt: skip
    folders = [write_results(tmp_path / str(one.seed), one) for one in (Made(), other)]
    for folder, release in zip(folders, ("6.1", "6.12"), strict=True):
        guest = {"virtual": {"spec": {"accelerator": "tcg"}, "kernel": {"release": release}}}
        (folder / "guest.json").write_text(json.dumps(guest), encoding="utf-8")
    facts = compare_runs(*([read_results(folder)] for folder in folders))
    found = {(one["group"], one["name"]): (one["a"], one["b"]) for one in facts["differs"]}
    assert found[("host", "kernel_release")] == (["6.18.0"], ["6.19.0"])
    assert found[("guest", "kernel")] == (["6.1"], ["6.12"])
    assert found[("configuration", "measure.duration_s")] == (["1.0"], ["2.0"])
    assert found[("program", "commit")] == (["c" * 40], ["f" * 40])
    assert found[("program", "compiler of the sender")] == (["gcc 12.2.0"], ["clang 19"])
    assert found[("program", "flags of the sender")] == (["-O2"], ["-O3"])
    assert found[("program", "sender two_copy, source")] == (["0123456789ab"], ["fedcba987654"])
    assert found[("setting", "congestion_control")] == (["cubic"], ["bbr"])
    assert ("program", "compiler of the receiver") not in found


def test_a_gate_fails_only_where_more_is_shown_and_tells_what_is_ruled_out(tmp_path: Path) -> None:
    made = [Made(), Made(2, LATER, factor=slower_by(0.05)), Made(3, LATER, factor=slower_by(-2.0))]
    a, *others = (read_results(write_results(tmp_path / f"run{one.seed}", one)) for one in made)
    gates = [parse_gate("slower:1%"), parse_gate("costlier:5%")]
    slower, faster = (compare_runs([a], [one], gates=gates)["gates"] for one in others)
    for gate in (*slower, *faster):
        assert (gate["fails"], gate["whole"], gate["cells"]) == (False, False, [])
    assert slower[0]["cannot_tell"]
    assert faster[0]["smallest_percent"] > 1.0
    assert not faster[0]["cannot_tell"]


def test_the_cost_where_nobody_receives_is_the_senders(tmp_path: Path) -> None:
    run = read_results(write_results(tmp_path / "a"))
    found = sides_of([run], [run], QUANTITIES[1])
    column = found.cells.index(("streams", "sink", "two_copy", 65507, 1))
    table = run.repetitions
    of_sink = table[(table["testbed"] == "sink") & (table["implementation"] == "two_copy")]
    expected = np.log(of_sink.sort_values("rep")["sender_cpu_ns_per_byte"])
    assert found.a[0][:, column] == pytest.approx(expected.to_numpy())
