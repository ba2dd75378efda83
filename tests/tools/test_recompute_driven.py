"""The recomputation of CPU budgets and datagrams, against the package's own estimates.

Both were written from the same description and share no code, so on whatever points they are to
come to the same.
"""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from datagram_tables import Study, Truth, facts_of, table_of

from copycost.report.datagrams_tables import published
from copycost.stats.errors_in_both import fit_line, pooled_errors
from copycost.stats.two_terms import fit_two_terms
from copycost.wording.percent import NBSP
from tools.recompute import budget
from tools.recompute.datagrams_tables import published_datagrams_row
from tools.recompute.document import _distinct
from tools.recompute.driven import CAUSES, driven, named_rows
from tools.recompute.two_terms import kind, two_terms

CONFIDENCE = 0.95


def repetitions(seed: int, noise: float) -> pd.DataFrame:
    """Return three repetitions of four limits, whose CPU use and bitrate err together."""
    random = np.random.default_rng(seed)
    limits = np.repeat([10, 25, 50, 75], 3)
    cpu = limits * (1.0 + noise * random.normal(size=limits.size))
    both = 0.5 * (cpu / limits - 1.0) + noise * random.normal(size=limits.size)
    return pd.DataFrame(
        {
            "limit_percent": limits,
            "sender": cpu,
            "bits_per_s": (1e9 + 3e8 * limits) * (1.0 + both),
            "saturated": False,
        }
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [0.001, 0.02, 0.1])
def test_a_line_is_the_same_by_another_way(seed: int, noise: float) -> None:
    rows = repetitions(seed, noise)
    found = budget.line(rows, "sender", CONFIDENCE)
    assert found is not None
    points = [of for limit, of in rows.groupby("limit_percent") if limit in found.limits]
    x, y = ([of[name].to_numpy() for of in points] for name in ("sender", "bits_per_s"))
    means = [np.array([values.mean() for values in each]) for each in (x, y)]
    line = fit_line(*means, pooled_errors(x, y), CONFIDENCE)
    assert found.slope.value == pytest.approx(line.slope, rel=1e-6)
    assert found.slope.low == pytest.approx(line.slope_low, rel=1e-5)
    assert found.intercept.high == pytest.approx(line.intercept_high, rel=1e-5)
    assert found.explained == pytest.approx(line.r_squared, rel=1e-6)
    need = found.needs(1e10, 100.0)
    assert (need.value, need.low) == pytest.approx(line.where(1e10)[:2], rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("noise", [0.01, 0.1, 0.5])
def test_two_terms_are_the_same_by_another_way(seed: int, noise: float) -> None:
    random = np.random.default_rng(seed)
    sizes = np.repeat([64, 1000, 16000, 65507], 3)
    costs = (3000.0 + 0.2 * sizes) * np.exp(noise * random.normal(size=sizes.size))
    rows = pd.DataFrame({"msg_bytes": sizes, "ns": costs})
    found = two_terms(rows, "ns", CONFIDENCE)
    by_size = {int(str(size)): of.to_numpy() for size, of in rows.groupby("msg_bytes")["ns"]}
    other = fit_two_terms(by_size, CONFIDENCE)
    assert found is not None
    assert other is not None
    assert found.fixed.value == pytest.approx(other.fixed, rel=1e-6)
    assert found.fixed.low == pytest.approx(other.fixed_low, rel=1e-6)
    assert found.per_byte.high == pytest.approx(other.per_byte_high, rel=1e-6)
    assert found.misfit == pytest.approx(other.misfit, rel=1e-6)
    ends = (found.even.low, found.even.high)
    assert ends == pytest.approx((other.even_low, other.even_high), rel=1e-6, nan_ok=True)


def test_a_fit_without_either_term_is_called_so() -> None:
    random = np.random.default_rng(3)
    sizes = np.repeat([64, 1000, 65507], 2)
    rows = pd.DataFrame({"msg_bytes": sizes, "ns": 3000.0 * np.exp(random.normal(size=6))})
    found = two_terms(rows, "ns", CONFIDENCE)
    assert found is not None
    assert kind(found) == "neither"


def test_a_curve_is_found_by_what_its_name_says() -> None:
    rows = pd.DataFrame(
        [
            {"testbed": "veth", "n_threads": 1, "implementation": way, "limiter": limiter,
             "emulated": False}
            for way in ("iperf3", "two_copy")
            for limiter in ("cgroup", "cpulimit")
        ]
    )  # fmt: skip
    name = "our sender with `two_copy`, limited by `cpulimit`"
    found = named_rows(rows, "veth", "1", name)
    assert found[["implementation", "limiter"]].values.tolist() == [["two_copy", "cpulimit"]]
    with pytest.raises(LookupError, match="is no curve"):
        named_rows(rows, "veth", "1", "iperf3")
    with pytest.raises(ValueError, match="emulator"):
        named_rows(rows, "veth", "1", f"emulated, {name}")


def counters(**of: dict[str, int]) -> dict[str, dict[str, int]]:
    nothing = dict.fromkeys(
        ("Udp.OutDatagrams", "Udp.InDatagrams", "Udp.RcvbufErrors", "dev.rx_dropped",
         "dev.tx_dropped"), 0
    )  # fmt: skip
    return {side: {**nothing, **of.get(side, {})} for side in ("sender", "receiver")}


def test_losses_on_the_way_are_shared_out_by_packets(tmp_path: Path) -> None:
    # 20 of 100 lost: 5 at the socket, and 15 with 60 packets of the TAP device, 30 of reassembly
    stopped: dict[str, dict[str, int]] = counters(
        sender={"Udp.OutDatagrams": 100},
        receiver={"Udp.InDatagrams": 80, "Udp.RcvbufErrors": 5, "Ip.ReasmFails": 30},
    )
    begin = counters(receiver={"Ip.ReasmFails": 0})
    switch = {"tap.rx_dropped": 0, "tap.tx_dropped": 60, "bridge.dropped": 0}
    begin["switch"], stopped["switch"] = dict.fromkeys(switch, 0), switch
    own = {
        "window": {"start_ns": 0, "end_ns": 10**9},
        "process": {"cpu_ns": 5 * 10**8},
        "in_window": {"bytes": 10**9},
    }
    record = {
        "status": "measured",
        "cell": {"testbed": "vm_pair_udp", "implementation": "two_copy", "msg_bytes": 4000,
                 "n_threads": 1, "rep": 1},
        "driver": {"name": "programs", "sender": own, "receiver": own},
        "testbed": {"mtu_bytes": 1500},
        "settings": {"sender_cpus": [0]},
        "warnings": [],
        "observed": {
            "perf_stat": {"sender": None, "receiver": None},
            "datagrams": {"drained": True, "begin": begin, "stopped": stopped, "end": stopped},
        },
    }  # fmt: skip
    folder = tmp_path / "raw/datagrams"
    folder.mkdir(parents=True)
    (folder / "rep=1.json").write_text(json.dumps(record), encoding="utf-8")
    row = driven(tmp_path, "datagrams").iloc[0]
    lost = {cause: int(row[f"lost_{cause}"]) for cause in CAUSES if row[f"lost_{cause}"]}
    assert lost == {"receive_buffer": 5, "reassembly": 5, "tap": 10}
    assert (row["lost"], row["unaccounted"], row["sender"]) == (20, 0, 50.0)
    assert row["bits_per_s"] == 8e9


def test_published_datagrams_and_ours_are_the_same_by_another_way() -> None:
    pair = Truth(testbed="vm_pair_udp", accelerator="tcg", loss=0.3)
    study = Study((pair, Truth(testbed="vm_loopback_udp")), sizes=(1000, 65507))
    columns, rows = published(facts_of(study))
    said = [[field.replace(NBSP, " ").replace("\\", "") for field in row] for row in rows]
    titles = _distinct([column.title for column in columns])
    table = table_of(study).rename(
        columns={f"{side}_cpu_percent": side for side in ("sender", "receiver")}
    )
    frame = table.assign(emulated=table["accelerator"] == "tcg")
    run = SimpleNamespace(driven=lambda _study: frame)

    def right(row: list[str]) -> dict[str, bool | None]:
        told = dict(zip(titles, row, strict=True))
        return published_datagrams_row(run, "", None, told, None)  # type: ignore[arg-type]

    assert all(all(right(row).values()) for row in said)
    for title, wrong in (
        ("here", "9.99 (emulated)"), ("Lost, here", "31 % (emulated)"),
        ("CPU, here", "95.0 % (emulated)"), ("CPU", "1.0 %"), ("Published note", "never"),
    ):  # fmt: skip
        row = [*said[-1]]
        assert row[0] == "vm-to-vm"
        row[titles.index(title)] = wrong
        assert right(row)[title] is False
