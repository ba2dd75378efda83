"""What is done again after a change, and what is not: on the real workflow, after a real run."""

import os
import shutil
from pathlib import Path

import pytest
from workflow.support import ROOT, Checkout, put_first

# Jobs of the micro grid: 2 implementations x 4 sizes x 1 thread count.
ALL = 8


def test_nothing_is_done_again_when_nothing_changed_or_was_only_touched(finished: Checkout) -> None:
    said = finished.snakemake("--cores", "1").stderr
    assert "nothing to be done" in said
    assert "host" not in said
    for folder in ("src", "workflow", "report", "results/bin"):
        for path in (finished.path / folder).rglob("*"):
            if path.is_file():
                path.touch()
    for name in ("config.yaml", "Snakefile", "results/host.json"):
        (finished.path / name).touch()
    finished.append("config.yaml", "# a comment changes nothing\n")
    finished.append("workflow/config/defaults.yaml", "# here either\n")
    assert finished.planned() == {}


def test_an_edited_strategy_is_measured_again_alone(finished: Checkout) -> None:
    finished.append("src/strategies/one_copy.c", "/* edited */\n")
    planned, cells = finished.plan()
    assert planned["build_sender"] == 1
    assert len(cells) == ALL / 2
    assert all("implementation=one_copy/" in path for path in cells)
    assert {"collect_results", "compute_facts", "plot_figure", "render_report"} <= planned.keys()
    assert planned.keys().isdisjoint({"build_receiver", "collect_host", "save_config"})


def test_only_added_cells_are_measured(finished: Checkout) -> None:
    finished.configure("streams", msg_bytes=["4KiB", "8KiB"], testbeds=["loopback", "veth"])
    cells = finished.planned_cells()
    assert len(cells) == 2 + 4
    assert all("msg_bytes=8192/" in path or "testbed=veth/" in path for path in cells)
    finished.configure("streams", msg_bytes=["64KiB"], testbeds=["loopback"])
    planned = finished.planned()
    assert "run_cell" not in planned
    assert {"collect_results", "render_report"} <= planned.keys()


MEASURING = {"run_cell", "build_sender", "build_receiver", "collect_host"}


def test_another_way_to_measure_measures_everything_again_and_nothing_else_does(
    finished: Checkout,
) -> None:
    finished.configure("measure", minutes=30)
    assert finished.planned().keys().isdisjoint(MEASURING)
    finished.configure("measure", minutes="none")
    finished.configure("statistics", resamples=300)
    planned = finished.planned()
    assert planned.keys().isdisjoint({*MEASURING, "collect_results"})
    assert {"summarise_cells", "compute_facts", "render_report"} <= planned.keys()
    # each edit adds to what those before it have made again
    for name, rules in (
        ("workflow/copycost/figures/condition.py", {"plot_figure", "render_report"}),
        ("workflow/schemas/record.schema.yaml", {"collect_results"}),
        ("workflow/copycost/records/derive.py", {"collect_results", "summarise_cells"}),
    ):
        finished.append(name, "# edited\n")
        planned = finished.planned()
        assert rules <= planned.keys()
        assert planned.keys().isdisjoint(MEASURING)
    for change in ({"repetitions": 3}, {"cpus": {"sender": [0], "receiver": "auto"}}):
        before = (finished.path / "config.yaml").read_text()
        finished.configure("measure", **change)
        planned = finished.planned()
        assert planned["run_cell"] == ALL
        assert planned.keys().isdisjoint(MEASURING - {"run_cell"})
        (finished.path / "config.yaml").write_text(before)
    finished.append("workflow/copycost/measure/repetition.py", "# edited\n")
    assert finished.planned()["run_cell"] == ALL


def test_another_typesetter_typesets_and_an_edited_template_writes_the_report_again_and_no_more(
    finished: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_first(monkeypatch, tmp_path / "tools/quarto", "echo 1.9.38")
    assert finished.planned() == {"render_report": 1}
    template = next((ROOT / "report").glob("*.qmd.j2")).name
    finished.append(f"report/{template}", "\nOne more sentence.\n")
    assert finished.planned() == {"write_report": 1, "render_report": 1}


def test_another_host_measures_everything_again_and_says_why(
    finished: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # another perf is the host fact that a test can change
    put_first(monkeypatch, tmp_path / "tools/perf", "echo perf version 99.0")
    planned = finished.planned()
    assert planned["collect_host"] == 1
    assert planned["run_cell"] == ALL
    assert planned.keys().isdisjoint({"build_sender", "build_receiver"})
    said = finished.dry().stderr
    assert "copycost: this is not the host of the earlier results (perf_version was " in said
    assert "99.0" in said
    assert "every cell is measured again. The earlier streams and round trips would be" in said
    fleet = finished.path / "results" / "fleet"
    assert not fleet.exists()
    earlier = sorted(path.name for path in finished.path.glob("results/raw/streams/**/rep=*.json"))
    done = finished.snakemake("--cores", "1", "results/host.json")
    assert "The earlier streams and round trips are kept in results/fleet/host=" in done.stderr
    kept = sorted(path.name for path in fleet.glob("host=*/raw/streams/**/rep=*.json"))
    assert kept == earlier
    assert finished.snakemake("--cores", "1", "results/host.json").returncode == 0
    assert len(list(fleet.glob("host=*"))) == 1, "and nothing more is kept once it is described"


def test_results_of_another_host_without_snakemake_s_notes_are_never_mixed_with_ours(
    finished: Checkout,
) -> None:
    path = finished.path / "results" / "host.json"
    other = path.read_text().replace('"kernel_release": "', '"kernel_release": "5.10.0-test-')
    made = path.stat()
    path.write_text(other)
    os.utime(path, ns=(made.st_atime_ns, made.st_mtime_ns))  # as an archive keeps it
    shutil.rmtree(finished.path / ".snakemake")
    for done in (finished.dry(), finished.snakemake("--cores", "1", "tables")):
        assert "(kernel_release was 5.10.0-test-" in done.stderr
        assert "they stay as they are" in done.stderr
    next((finished.path / "results" / "raw").rglob("*.json")).unlink()
    done = finished.snakemake("--cores", "1", "measure", check=False)
    assert done.returncode != 0
    assert "; remove results/host.json so that this host is measured alone" in done.stderr
    assert path.read_text() == other
    path.unlink()
    assert finished.planned()["run_cell"] == ALL


def test_a_study_whose_folders_exist_is_not_measured_unasked(finished: Checkout) -> None:
    results = finished.path / "results"
    for study in ("cpu_budget", "datagrams", "profile"):
        for folder in (results / "raw" / study / "testbed=veth", results / study):
            folder.mkdir(parents=True)
            (folder / "facts.json").write_text("{}", encoding="utf-8")
        (results / "tables" / f"{study}.csv").touch()
    assert finished.planned() == {}
    assert finished.planned("cpu_budget")["run_budget"] > 0
