"""Which nodes have written nothing, after a failure."""

from pathlib import Path

import pytest
import yaml
from unit.snakefile.fake_slurm import FakeSlurm, fake_slurm

from copycost.snakefile.silent_nodes import CONFIG_PATH, LOGS, main


@pytest.fixture(autouse=True)
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSlurm:
    monkeypatch.chdir(tmp_path)
    LOGS.mkdir(parents=True)
    slurm = {"partition": "auto", "nodes": [], "count": 3, "constraint": "none"}
    hosts = {"alias": "auto", "where": ["slurm"], "slurm": slurm}
    CONFIG_PATH.write_text(yaml.safe_dump({"hosts": hosts}))
    return fake_slurm(monkeypatch, "".join(f"n{k}|a*|2|idle|(null)\n" for k in (1, 2, 3)))


def test_nodes_without_a_log_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    (LOGS / "n2.log").touch()
    main()
    said = capsys.readouterr().err
    assert f"nothing has come into {Path.cwd()} from n1, n3: either" in said
    assert "this folder is not shared with the nodes" in said


def test_nothing_is_said_where_all_have_written(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("n1", "n2", "n3"):
        (LOGS / f"{name}.log").touch()
    main()
    assert capsys.readouterr().err == ""


def test_where_the_nodes_are_not_known_nothing_is_said(
    slurm: FakeSlurm, capsys: pytest.CaptureFixture[str]
) -> None:
    slurm.sinfo = None
    main()
    CONFIG_PATH.unlink()
    main()
    assert capsys.readouterr().err == ""
