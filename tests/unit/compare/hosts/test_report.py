"""A simulated fleet through tables, facts and the report: its truth is found again."""

import html
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report.checks import check_pdf
from unit.compare.hosts.made import WAYS, real, records_of, write_run

from copycost.__main__ import main
from copycost.compare.hosts.export_command import archive_of
from copycost.compare.hosts.gathering import gather
from copycost.compare.hosts.host_results import describe, read_sets
from copycost.errors import DataError
from tools import simulate_fleet
from tools.recompute.fleet import wrong_fleet_tables
from tools.simulate_fleet import SPREAD, WITH_KERNEL, make_fleet, truth_of

pytestmark = pytest.mark.slow

N_HOSTS = 20


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    for _ in make_fleet(real(folder), folder / "fleet", N_HOSTS, 100):
        pass
    assert main(["merge", "--into", str(folder / "fleet")]) == 0
    return folder / "fleet"


def pair_of(fleet: Path, implementation: str, study: str = "conditions") -> dict:
    facts = json.loads((fleet / "facts.json").read_text())
    (condition,) = facts[study]
    return next(
        pair
        for pair in condition["pairs"]
        if (pair["implementation"], pair["baseline"]) == (implementation, "two_copy")
    )


def test_effects_and_spread_are_found_again(fleet: Path) -> None:
    truths = [truth_of(number, WAYS, 1) for number in range(1, N_HOSTS + 1)]
    for way in WAYS[1:]:
        point = pair_of(fleet, way)["quantities"][0]["point"]
        true = np.array([truth.effects[way] for truth in truths])
        found = np.log([one["ratio"] for one in point["hosts"]])
        assert np.abs(found - true).max() < 0.02
        assert point["n"] == N_HOSTS
        assert point["spread"] == pytest.approx(true.std(ddof=1), rel=0.1)
        assert math.log(point["low"]) < true.mean() < math.log(point["high"])
    assert point["spread"] > SPREAD


def test_round_trips_are_compared_by_the_same_code(fleet: Path) -> None:
    truths = [truth_of(number, WAYS, 1) for number in range(1, N_HOSTS + 1)]
    for way in WAYS[1:]:
        pair = pair_of(fleet, way, "round_trips")
        assert [one["metric"] for one in pair["quantities"]] == ["p50_ns", "p99_ns"]
        true = -np.array([truth.effects[way] for truth in truths])
        for quantity in pair["quantities"]:
            point = quantity["point"]
            found = np.log([one["ratio"] for one in point["hosts"]])
            assert np.abs(found - true).max() < 0.05
            assert point["spread"] == pytest.approx(true.std(ddof=1), rel=0.1)
            assert math.log(point["next_low"]) < true.mean() < math.log(point["next_high"])
            assert quantity["turns"] is None


def test_the_fact_that_an_effect_goes_with_is_named(fleet: Path) -> None:
    way, release, _ = WITH_KERNEL
    (found,) = pair_of(fleet, way)["quantities"][0]["point"]["goes_with"]
    assert found["name"] == "kernel series"
    groups = {group["value"]: group["ratio"] for group in found["groups"]}
    assert max(groups, key=groups.__getitem__) == f"Linux {release.rpartition('.')[0]}"
    assert pair_of(fleet, "one_copy")["quantities"][0]["point"]["goes_with"] == []


@pytest.mark.parametrize(("table", "column"), [("ratios", "high"), ("across", "n_open")])
def test_the_tables_follow_from_the_records_and_a_wrong_number_does_not(
    fleet: Path, table: str, column: str
) -> None:
    assert list(wrong_fleet_tables(fleet)) == []
    path = fleet / "tables" / f"{table}.csv"
    right = path.read_text(encoding="utf-8")
    rows = pd.read_csv(path)
    place = rows.index[(rows["metric"] == "p99_ns") & (rows["implementation"] == "zero_copy")][0]
    rows.loc[place, column] += 1
    rows.to_csv(path, index=False)
    wrong = list(wrong_fleet_tables(fleet))
    path.write_text(right, encoding="utf-8")
    assert len(wrong) == 1
    assert wrong[0].startswith(f"{table}.csv: ")
    assert f": {column} is " in wrong[0]


def test_the_report_is_written_and_says_that_hosts_are_simulated(fleet: Path) -> None:
    page = (fleet / "report" / "report.html").read_text(encoding="utf-8")
    assert "These hosts are simulated" in page
    assert "Results do not say which network card a host has" in " ".join(page.split())
    assert "simulated-014" in page
    check_pdf(fleet / "report" / "report.pdf")


def small(tmp_path: Path, n_hosts: int = 2) -> Path:
    for _ in make_fleet(real(tmp_path), tmp_path / "fleet", n_hosts, 100):
        pass
    return tmp_path / "fleet"


def test_tables_are_made_anew_only_for_what_changed(tmp_path: Path) -> None:
    fleet = small(tmp_path)
    gather(fleet)
    made = {path: path.stat().st_mtime_ns for path in fleet.glob("host=*/tables/*")}
    gather(fleet)
    assert made == {path: path.stat().st_mtime_ns for path in fleet.glob("host=*/tables/*")}
    for _ in make_fleet(real(tmp_path / "more"), fleet, 1, 100, seed=2):
        pass
    gather(fleet)
    anew = {
        path.parent.parent.name for path, then in made.items() if path.stat().st_mtime_ns > then
    }
    assert len(anew) <= 1


def test_hosts_that_share_a_boot_are_one_and_the_report_says_which(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = small(tmp_path)
    for _ in make_fleet(real(tmp_path / "more"), tmp_path / "more" / "fleet", 1, 100, seed=2):
        pass
    boot = read_sets(fleet)[0].read_records()[0]["boot_id"]
    node = [
        {**one, "boot_id": boot} for one in read_sets(tmp_path / "more" / "fleet")[0].read_records()
    ]
    run = write_run(tmp_path / "run", node[: len(node) // 2])
    assert main(["merge", f"node={run}", "--into", str(fleet), "--formats", "html"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "node and simulated-001 share a boot id, so they are one host" in said
    assert "The results below are from 2 hosts" in said
    gathered = gather(fleet)
    assert gathered.used == ["simulated-001", "simulated-002"]
    assert gathered.left_out == {"node": "one_kernel"}


def test_a_host_whose_numbers_an_audit_doubts_counts_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = small(tmp_path)
    records = records_of(range(1, 5), WAYS)  # one value for all of a way's rounds
    run = write_run(tmp_path / "run", records)
    assert main(["merge", f"invented={run}", "--into", str(fleet), "--formats", "html"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "An audit finds something against the numbers of invented, which count" in said
    assert main(["audit", str(fleet)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("invented: counts, although an audit finds something")
    assert "nothing speaks against" in lines[1]


def test_an_earlier_state_is_kept_and_does_not_count(tmp_path: Path) -> None:
    fleet = small(tmp_path)
    for _ in make_fleet(real(tmp_path / "more"), fleet, 1, 100, seed=5):
        pass
    gathered = gather(fleet)
    assert len(gathered.sets) == 3, "choose a seed by which the host changes"
    assert gathered.left_out == {"simulated-001": "older"}
    assert gathered.used == ["simulated-001_2", "simulated-002"]
    # it does not stand for a host whose last state cannot be read
    (fleet / "host=simulated-001_2" / "set.json").write_text("{")
    gathered = gather(fleet)
    assert gathered.used == ["simulated-002"]
    assert gathered.left_out == {"simulated-001": "older"}
    for name in ("simulated-001", "simulated-002"):
        (fleet / f"host={name}" / "set.json").write_text("{")
    with pytest.raises(DataError, match=r"set\.json, line 1"):
        gather(fleet)


def test_a_host_that_cannot_be_read_any_more_is_named_and_the_others_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet = small(tmp_path, 4)
    changed, older, damaged, _ = sets = read_sets(fleet)
    changed.records[0].write_text(changed.records[0].read_text().replace("1", "2"))
    for path in older.records:
        path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": 4}))
    describe(older)
    (damaged.folder / "set.json").write_text("{")
    gathered = gather(fleet)
    assert gathered.used == ["simulated-004"]
    assert set(gathered.unreadable) == {one.name for one in sets[:3]}
    assert main(["merge", "--into", str(fleet), "--formats", "html"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    page = " ".join((fleet / "report/report.html").read_text(encoding="utf-8").split())
    for one, why in zip(sets, ("changed after", "schema version 4", "line 1: "), strict=False):
        assert f"{one.name} can no longer be read, and enters none of the results below (" in page
        assert f"{one.name} can no longer be read" in said
        assert why in gathered.unreadable[one.name]
        assert "remove the folder" in gathered.unreadable[one.name]
    assert main(["audit", str(fleet)]) == 0
    assert "simulated-003: left out of every mean, since it cannot" in capsys.readouterr().out
    assert main(["audit", str(damaged.folder)]) == 1
    assert "set.json, line 1: " in capsys.readouterr().err


HOSTILE = (
    "<script>alert(1)</script><b>", "[x](http://e.example) `c`", "$x^{$ \\input{/etc/passwd}",
    "a | b || c", "{{< include /etc/passwd >}}", '#read("/etc/passwd")', "`#x`{=typst}",
    "@tbl-short ::: {.x}", "{{7*7}} {%x%} \\",
)  # fmt: skip


def test_what_a_host_is_called_is_shown_and_never_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulate_fleet, "KERNELS", HOSTILE)
    monkeypatch.setattr(simulate_fleet, "MODELS", dict.fromkeys(HOSTILE, (8 << 20, 4)))
    one = real(tmp_path)
    host = {**one.host, "cpu": {**one.host["cpu"], "virtualisation": HOSTILE[0]}}
    for _ in make_fleet(replace(one, host=host), tmp_path / "fleet", 14, 100):
        pass
    assert main(["merge", "--into", str(tmp_path / "fleet")]) == 0
    page = (tmp_path / "fleet/report/report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert 'http://e.example"' not in page
    shown = html.unescape(re.sub(r"<[^>]*>", "", page))
    for told in gather(tmp_path / "fleet").told.values():
        assert str(told["kernel"]) in shown
    assert "root:x:0" not in page
    assert (tmp_path / "fleet/report/report.pdf").read_bytes().startswith(b"%PDF")


def test_one_host_of_a_fleet_has_a_report_of_its_own(tmp_path: Path) -> None:
    archive = tmp_path / "x.zip"
    archive.write_bytes(archive_of(real(tmp_path)))
    fleet = tmp_path / "fleet"
    assert main(["merge", str(archive), "--into", str(fleet), "--no-report"]) == 0
    assert main(["audit", str(fleet / "host=lab"), "--formats", "html"]) == 0
    assert "two_copy" in (fleet / "host=lab" / "report" / "report.html").read_text()
