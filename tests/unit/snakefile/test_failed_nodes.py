"""What is said of nodes without results, after a failure."""

import os
from pathlib import Path

import pytest
import yaml
from configured import configured
from unit.compare.hosts.made import write_run
from unit.snakefile.fake_slurm import FakeSlurm, fake_slurm

from copycost.compare.hosts.export_command import archive_of
from copycost.compare.hosts.import_archive import read_parcel
from copycost.snakefile.failed_nodes import CONFIG_PATH, LOGS, NODES, SLURM_LOGS, main

CANCELLED = "slurmstepd: error: *** JOB 3 ON n2 CANCELLED AT 2026-01-02T03:04:05 ***\n"


@pytest.fixture(autouse=True)
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    monkeypatch.chdir(tmp_path)
    for folder in (LOGS, NODES, SLURM_LOGS / "n1", SLURM_LOGS / "n2"):
        folder.mkdir(parents=True)
    of_slurm = {"partition": "auto", "nodes": [], "count": 3, "constraint": "none"}
    tree = configured(hosts={"where": ["slurm"], "slurm": of_slurm}).as_dict()
    CONFIG_PATH.write_text(yaml.safe_dump(tree))
    return fake_slurm(monkeypatch, "".join(f"n{k}|a*|2|idle|infinite|(null)\n" for k in (1, 2, 3)))


def test_nodes_without_a_log_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    (NODES / "n2.zip").touch()
    main()
    said = capsys.readouterr().err
    assert f"nothing has come into {Path.cwd()} from n1, n3: either" in said
    assert "this folder is not shared with the nodes" in said


def test_why_a_node_failed_and_what_it_brought_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = read_parcel(write_run(tmp_path / "run"), "n1")
    (NODES / "n1.part.zip").write_bytes(archive_of(run))
    for node, end in (("n1", "packed"), ("n2", "no compiler")):
        (LOGS / f"{node}.log").write_text(f"first\nsecond\nthird\nnode {node}: {end}\n")
    (LOGS / "n3.log").write_text("the end\n")
    (NODES / "n3.part.zip").write_bytes(b"no archive")  # merging says why
    for number, text in (("3", CANCELLED), ("9", "another end\n")):  # the last job counts
        (SLURM_LOGS / "n2" / f"{number}.log").write_text(text)
        os.utime(SLURM_LOGS / "n2" / f"{number}.log", (int(number), int(number)))
    (SLURM_LOGS / "n1" / "7.log").write_text(
        "slurmstepd-n1: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT"
        " ***\n"
    )
    main()
    said = capsys.readouterr().err
    assert f"run: n1: Slurm ended its job (time limit); brought {len(run.records)} of " in said
    assert "run: n2: its job failed; brought 0 of " in said
    assert "    second\n    third\n    node n2: no compiler\n" in said
    assert "first" not in said
    assert "run: n3: its job failed; brought 0 of " in said
