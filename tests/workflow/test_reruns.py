"""What is done again after a change, and what is not: on the real workflow, after a real run."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from workflow.support import ROOT, Checkout

# Jobs of the micro grid: 2 implementations x 4 sizes x 1 thread count.
ALL = 8


@pytest.fixture
def checkout(finished: Checkout) -> Checkout:
    """A moved copy of the checkout in which everything was measured, for a test to edit."""
    return finished


def test_nothing_is_done_again_when_nothing_changed_or_was_only_touched(checkout: Checkout) -> None:
    said = checkout.snakemake("--cores", "1").stderr
    assert "nothing to be done" in said
    assert "host" not in said
    for folder in ("src", "workflow", "report", "results/bin"):
        for path in (checkout.path / folder).rglob("*"):
            if path.is_file():
                path.touch()
    for name in ("config.yaml", "Snakefile", "results/host.json"):
        (checkout.path / name).touch()
    assert checkout.planned() == {}


def test_an_edited_strategy_is_measured_again_alone(checkout: Checkout) -> None:
    checkout.append("src/strategies/one_copy.c", "/* edited */\n")
    planned, cells = checkout.plan()
    assert planned["build_sender"] == 1
    assert len(cells) == ALL / 2
    assert all("implementation=one_copy/" in path for path in cells)
    assert {"collect_results", "compute_facts", "plot_figure", "render_report"} <= planned.keys()
    assert planned.keys().isdisjoint({"build_receiver", "collect_host", "save_config"})


def test_only_added_cells_are_measured(checkout: Checkout) -> None:
    checkout.configure("streams", msg_bytes=["4KiB", "8KiB"], testbeds=["loopback", "veth"])
    cells = checkout.planned_cells()
    assert len(cells) == 2 + 4
    assert all("msg_bytes=8192/" in path or "testbed=veth/" in path for path in cells)
    checkout.configure("streams", msg_bytes=["64KiB"], testbeds=["loopback"])
    planned = checkout.planned()
    assert "run_cell" not in planned
    assert {"collect_results", "render_report"} <= planned.keys()


def test_another_number_of_repetitions_is_another_job_and_more_time_is_not(
    checkout: Checkout,
) -> None:
    checkout.configure("measure", repetitions=3)
    assert checkout.planned()["run_cell"] == ALL
    checkout.configure("measure", repetitions=1, minutes=30)
    assert "run_cell" not in checkout.planned()


def test_another_way_to_measure_measures_everything_again(checkout: Checkout) -> None:
    checkout.configure("measure", cpus={"sender": [0], "receiver": "auto"})
    planned = checkout.planned()
    assert planned["run_cell"] == ALL
    assert planned.keys().isdisjoint({"build_sender", "build_receiver", "collect_host"})


def test_other_statistics_measure_nothing_again(checkout: Checkout) -> None:
    checkout.configure("statistics", resamples=300)
    planned = checkout.planned()
    assert planned.keys().isdisjoint({"run_cell", "collect_results"})
    assert {"summarise_cells", "compute_facts", "render_report"} <= planned.keys()


EDITS = [
    ("workflow/copycost/figures/condition.py", {"plot_figure", "render_report"}),
    ("workflow/schemas/record.schema.yaml", {"collect_results"}),
    ("workflow/copycost/records/derive.py", {"collect_results", "summarise_cells"}),
]


@pytest.mark.parametrize(("name", "rules"), EDITS, ids=[row[0] for row in EDITS])
def test_edited_code_behind_the_records_measures_nothing_again(
    checkout: Checkout, name: str, rules: set[str]
) -> None:
    checkout.append(name, "# edited\n")
    planned = checkout.planned()
    assert rules <= planned.keys()
    assert planned.keys().isdisjoint({"run_cell", "build_sender", "collect_host"})


def test_an_edited_template_writes_the_report_again_and_no_more(checkout: Checkout) -> None:
    template = next((ROOT / "report").glob("*.qmd.j2")).name
    checkout.append(f"report/{template}", "\nOne more sentence.\n")
    assert checkout.planned() == {"write_report": 1, "render_report": 1}


def test_a_run_stands_beside_published_ones_and_another_typesetter_does_no_more(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = checkout.path / "results/report/report.html"
    assert 'id="sec-published"' in report.read_text(encoding="utf-8")
    assert "Intel Core i5-10500" in report.read_text(encoding="utf-8")
    quarto = tmp_path / "tools" / "quarto"
    quarto.parent.mkdir()
    quarto.write_text("#!/bin/sh\necho 1.9.38\n")
    quarto.chmod(0o755)
    monkeypatch.setenv("PATH", str(quarto.parent), prepend=os.pathsep)
    assert checkout.planned() == {"render_report": 1}


def test_edited_measuring_code_measures_everything_again(checkout: Checkout) -> None:
    checkout.append("workflow/copycost/measure/repetition.py", "# edited\n")
    assert checkout.planned()["run_cell"] == ALL


def test_another_host_measures_everything_again_and_says_why(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    perf = tmp_path / "tools" / "perf"  # another perf is the host fact that a test can change
    perf.parent.mkdir()
    perf.write_text("#!/bin/sh\necho perf version 99.0\n")
    perf.chmod(0o755)
    monkeypatch.setenv("PATH", str(perf.parent), prepend=os.pathsep)
    planned = checkout.planned()
    assert planned["collect_host"] == 1
    assert planned["run_cell"] == ALL
    assert planned.keys().isdisjoint({"build_sender", "build_receiver"})
    said = checkout.dry().stderr
    assert "copycost: this is not the host of the earlier results (perf_version was " in said
    assert "99.0" in said
    assert "every cell is measured again. The earlier streams and round trips would be" in said
    fleet = checkout.path / "results" / "fleet"
    assert not fleet.exists()
    earlier = sorted(path.name for path in checkout.path.glob("results/raw/streams/**/rep=*.json"))
    done = checkout.snakemake("--cores", "1", "results/host.json")
    assert "The earlier streams and round trips are kept in results/fleet/host=" in done.stderr
    kept = sorted(path.name for path in fleet.glob("host=*/raw/streams/**/rep=*.json"))
    assert kept == earlier
    assert checkout.snakemake("--cores", "1", "results/host.json").returncode == 0
    assert len(list(fleet.glob("host=*"))) == 1, "and nothing more is kept once it is described"


def test_results_of_another_host_without_snakemake_s_notes_are_never_mixed_with_ours(
    checkout: Checkout,
) -> None:
    path = checkout.path / "results" / "host.json"
    other = path.read_text().replace('"kernel_release": "', '"kernel_release": "5.10.0-test-')
    made = path.stat()
    path.write_text(other)
    os.utime(path, ns=(made.st_atime_ns, made.st_mtime_ns))  # as an archive keeps it
    shutil.rmtree(checkout.path / ".snakemake")
    for done in (checkout.dry(), checkout.snakemake("--cores", "1", "tables")):
        assert "(kernel_release was 5.10.0-test-" in done.stderr
        assert "they stay as they are" in done.stderr
    next((checkout.path / "results" / "raw").rglob("*.json")).unlink()
    done = checkout.snakemake("--cores", "1", "measure", check=False)
    assert done.returncode != 0
    assert "; remove results/host.json so that this host is measured alone" in done.stderr
    assert path.read_text() == other
    path.unlink()
    assert checkout.planned()["run_cell"] == ALL


def test_a_failed_repetition_is_measured_again_when_asked_for(checkout: Checkout) -> None:
    path = sorted((checkout.path / "results" / "raw").rglob("rep=1.json"))[0]
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"status": "failed", "reason": "reset by peer"}))
    assert "run_cell" not in checkout.planned()
    checkout.call([sys.executable, "-m", "copycost.snakefile.retry"], PYTHONPATH="workflow")
    assert checkout.planned_cells() == [str(path.relative_to(checkout.path))]


def test_the_configuration_is_saved_as_it_was_resolved(checkout: Checkout) -> None:
    assert "- 65536" in (checkout.path / "results" / "config.yaml").read_text()
    checkout.append("config.yaml", "# a comment changes nothing\n")
    checkout.append("workflow/config/defaults.yaml", "# here either\n")
    assert "save_config" not in checkout.planned()


def test_a_study_whose_folders_exist_is_not_measured_unasked(finished: Checkout) -> None:
    results = finished.path / "results"
    for study in ("cpu_budget", "datagrams", "profile"):
        for folder in (results / "raw" / study / "testbed=veth", results / study):
            folder.mkdir(parents=True)
            (folder / "facts.json").write_text("{}", encoding="utf-8")
        (results / "tables" / f"{study}.csv").touch()
    assert finished.planned() == {}
    assert finished.planned("cpu_budget")["run_budget"] > 0
