"""Which files the workflow audits."""

from pathlib import Path

import pytest

from copycost.config.audit_files import audit_files

DATA = Path(__file__).parents[3] / "data" / "published"


def test_a_dataset_takes_the_files_beside_it_unless_others_are_named(tmp_path: Path) -> None:
    for name in ("my run.csv", "my run.claims.yaml", "other.yaml"):
        (tmp_path / name).touch()
    dataset = str(tmp_path / "my run.csv")
    beside = {"dataset": dataset, "claims": str(tmp_path / "my run.claims.yaml")}
    assert audit_files({"dataset": dataset}, DATA) == {"my-run": beside}
    other = str(tmp_path / "other.yaml")
    named = audit_files({"dataset": dataset, "claims": other, "mapping": other}, DATA)
    assert named == {"my-run": {"dataset": dataset, "mapping": other, "claims": other}}


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"dataset": "/nowhere/a.csv"}, "there is no such file"),
        ({"claims": __file__}, "needs dataset=FILE.csv"),
    ],
)
def test_what_cannot_be_audited_is_said(config: dict[str, object], said: str) -> None:
    with pytest.raises(SystemExit, match=said):
        audit_files(config, DATA)
