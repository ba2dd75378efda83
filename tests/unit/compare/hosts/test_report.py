"""A simulated fleet through tables, facts and the report: its truth is found again."""

import html
import json
import math
import re
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from unit.compare.hosts.made import WAYS, real, records_of, write_run

from copycost.__main__ import main
from copycost.compare.hosts.fleet import gather
from copycost.compare.hosts.host_results import describe, read_set, read_sets
from copycost.compare.hosts.import_archive import Parcel
from copycost.errors import DataError
from report import checks
from tools import simulate_fleet
from tools.recompute.fleet import wrong_fleet_tables
from tools.simulate_fleet import make_fleet, truth_of

pytestmark = pytest.mark.slow

N_HOSTS = 20


HOSTILE = (
    "<script>alert(1)</script><b>", "[x](http://e.example) `c`", "$x^{$ \\input{/etc/passwd}",
    "a | b || c", "{{< include /etc/passwd >}}", '#read("/etc/passwd")', "`#x`{=typst}",
    "@tbl-short ::: {.x}", "{{7*7}} {%x%} \\",
)  # fmt: skip


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parcel]:
    """Yield a run to simulate hosts of, which are called what nobody should obey."""
    one = real(tmp_path_factory.mktemp("real"))
    models = {f"Simulated {name}": (8 << 20, 4) for name in HOSTILE}
    cpu = one.host["cpu"] | {"virtualisation": HOSTILE[0]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulate_fleet, "KERNELS", HOSTILE)
        patch.setattr(simulate_fleet, "MODELS", models)
        yield replace(one, host=one.host | {"cpu": cpu})


def made_fleet(lab: Parcel, folder: Path, n_hosts: int, seed: int = 1) -> Path:
    for _ in make_fleet(lab, folder, n_hosts, 100, seed):
        pass
    return folder


@pytest.fixture(scope="module")
def made_small(lab: Parcel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_fleet(lab, tmp_path_factory.mktemp("small"), 2)


@pytest.fixture(scope="module")
def fleet(lab: Parcel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = made_fleet(lab, tmp_path_factory.mktemp("fleet"), N_HOSTS)
    assert main(["merge", "--into", str(folder)]) == 0
    return folder


def read_facts(fleet: Path) -> dict:
    return dict(json.loads((fleet / "facts.json").read_text()))


@pytest.mark.parametrize(
    ("study", "sign", "metrics"),
    [("streams", 1, ["throughput_bits_per_s", "both_cpu_ns_per_byte"]),
     ("round_trips", -1, ["p50_ns", "p99_ns"])],
)  # fmt: skip
def test_effects_and_spread_are_found_again(
    fleet: Path, study: str, sign: int, metrics: list[str]
) -> None:
    truths = [truth_of(number, WAYS, 1) for number in range(1, N_HOSTS + 1)]
    for way in WAYS[1:]:
        wanted = {"study": study, "implementation": way, "baseline": "two_copy"}
        (pair,) = (one for one in read_facts(fleet)["pairs"] if one.items() >= wanted.items())
        quantities = pair["quantities"]
        assert [one["metric"] for one in quantities] == metrics
        point = quantities[0]["point"]
        true = sign * np.array([truth.effects[way] for truth in truths])
        found = np.log([one["ratio"] for one in quantities[0]["hosts"]])
        assert np.abs(found - true).max() < 0.05
        assert point["n_hosts"] == N_HOSTS
        assert point["spread"] == pytest.approx(true.std(ddof=1), rel=0.1)
        assert math.log(point["low"]) < true.mean() < math.log(point["high"])
        assert math.log(point["next_low"]) < true.mean() < math.log(point["next_high"])
        assert (quantities[0]["turns"] is None) == (study == "round_trips")


def test_the_tables_follow_from_the_records_and_a_wrong_number_does_not(fleet: Path) -> None:
    columns = {"ratios": "high", "across": "n_open"}
    paths = {table: fleet / "tables" / f"{table}.csv" for table in columns}
    right = {table: path.read_text(encoding="utf-8") for table, path in paths.items()}
    for table, column in columns.items():
        rows = pd.read_csv(paths[table])
        is_meant = (rows["metric"] == "p99_ns") & (rows["implementation"] == "zero_copy")
        rows.loc[rows.index[is_meant][0], column] += 1
        rows.to_csv(paths[table], index=False)
    wrong = list(wrong_fleet_tables(fleet))
    for table, text in right.items():
        paths[table].write_text(text, encoding="utf-8")
    assert len(wrong) == len(columns), "all others follow"
    for line, (table, column) in zip(wrong, columns.items(), strict=True):
        assert line.startswith(f"{table}.csv: ")
        assert f": {column} is " in line


def test_the_report_says_that_hosts_are_simulated_and_obeys_no_name_of_theirs(
    fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (fleet / "report" / "report.html").read_text(encoding="utf-8")
    assert "20 hosts are simulated" in " ".join(page.split())
    assert "simulated-014" in page
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert 'http://e.example"' not in page
    assert "root:x:0" not in page
    shown = html.unescape(re.sub(r"<[^>]*>", "", page))
    kernels = {host["told"]["kernel"] for host in read_facts(fleet)["hosts"]}
    assert kernels == set(HOSTILE)
    assert [kernel for kernel in kernels if kernel not in shown] == []
    # but for what these names have themselves
    monkeypatch.setattr(checks, "_UNRESOLVED", re.compile(r"\?@|\{#|\bnan\b|Undefined"))
    checks.check_pdf(fleet / "report" / "report.pdf")


@pytest.fixture
def small(made_small: Path, tmp_path: Path) -> Path:
    """Return a fleet of two hosts that a test may change."""
    return shutil.copytree(made_small, tmp_path / "small")


def test_an_earlier_state_is_kept_and_does_not_count(lab: Parcel, small: Path) -> None:
    made_fleet(lab, small, 1, seed=5)
    gathered = gather(small)
    assert len(gathered.hosts) == 3, "choose a seed by which the host changes"
    assert gathered.left_out == {"simulated-001": "older"}
    assert set(gathered.used) == {"simulated-001_2", "simulated-002"}
    # it does not stand for a host whose last state cannot be read
    (small / "host=simulated-001_2" / "set.json").write_text("{")
    gathered = gather(small)
    assert set(gathered.used) == {"simulated-002"}
    assert gathered.left_out == {"simulated-001": "older"}
    for name in ("simulated-001", "simulated-002"):
        (small / f"host={name}" / "set.json").write_text("{")
    with pytest.raises(DataError, match=r"set\.json, line 1"):
        gather(small)


@pytest.fixture(scope="module")
def troubled(
    lab: Parcel, made_small: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """Return a fleet of hosts that cannot be taken as they are, and what merging says of it."""
    folder = tmp_path_factory.mktemp("troubled")
    fleet = shutil.copytree(made_small, folder / "fleet")
    # a node of the first host, and one with the same value in all of a way's rounds
    boot = read_sets(fleet)[0][0].read_records()[0]["boot_id"]
    (other,), _ = read_sets(made_fleet(lab, folder / "other", 1, seed=2))
    node = [{**one, "boot_id": boot} for one in other.read_records()]
    runs = {"node": node[: len(node) // 2], "invented": records_of(range(1, 5), WAYS)}
    sources = [f"{name}={write_run(folder / name, records)}" for name, records in runs.items()]
    bad = {name: folder / "bad" / f"host={name}" for name in UNREADABLE}
    made_fleet(lab, folder / "bad", 5)
    for path in bad.values():
        shutil.copytree(path, fleet / path.name)
    changed, older, damaged = (read_set(fleet / path.name) for path in bad.values())
    changed.records[0].write_text(changed.records[0].read_text().replace("1", "2"))
    for path in older.records:
        path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": 4}))
    describe(older)
    (damaged.folder / "set.json").write_text("{")
    with redirect_stdout(StringIO()) as printed:
        assert main(["merge", *sources, "--into", str(fleet), "--formats", "html"]) == 0
    return fleet, " ".join(printed.getvalue().split())


UNREADABLE = {
    "simulated-003": "changed after",
    "simulated-004": "schema version 4",
    "simulated-005": "line 1: ",
}


def test_hosts_that_share_a_boot_are_one_and_the_report_says_which(
    troubled: tuple[Path, str],
) -> None:
    fleet, said = troubled
    assert "node and simulated-001 share a boot id, so they are one host" in said
    assert "The results below are from 3 hosts" in said
    left_out = {one["name"]: one["left_out"] for one in read_facts(fleet)["hosts"]}
    used = dict.fromkeys(("invented", "simulated-001", "simulated-002"))
    assert left_out == used | {"node": "one_kernel"}


def test_a_host_that_is_doubted_counts_and_one_that_cannot_be_read_does_not(
    troubled: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    fleet, said = troubled
    assert "An audit finds something against the numbers of invented, which count" in said
    assert re.search(
        r"Without such hosts, (none|\d+) of \d+ verdicts? over hosts would change", said
    )
    page = " ".join((fleet / "report/report.html").read_text(encoding="utf-8").split())
    # what hosts are simulated of lends its counters to several rounds
    assert "the same as in another repetition" in page
    unreadable = read_facts(fleet)["unreadable"]
    assert set(unreadable) == set(UNREADABLE)
    for name, why in UNREADABLE.items():
        assert f"{name} can no longer be read, and enters none of the results below (" in page
        assert f"{name} can no longer be read" in said
        assert why in unreadable[name]
        assert "remove the folder" in unreadable[name]
    assert main(["audit", str(fleet / "host=simulated-005")]) == 1
    assert "set.json, line 1: " in capsys.readouterr().err
    assert main(["audit", str(fleet)]) == 1
    assert "is no host of a fleet" in capsys.readouterr().err
