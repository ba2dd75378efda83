import json
from pathlib import Path

import pytest

from copycost.hosts.facts.identity import host_identity
from copycost.snakefile import host_change
from copycost.snakefile.host_change import remark


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The description of this host among the results, for a test to edit."""
    monkeypatch.chdir(tmp_path)
    host_change.HOST_PATH.parent.mkdir()
    host_change.HOST_PATH.write_text(json.dumps({"identity": host_identity()}))
    return host_change.HOST_PATH


@pytest.mark.parametrize("text", [None, "", "{}", "[]", '{"identity": 3}'])
def test_nothing_is_said_without_a_description_of_another_host(
    host: Path, text: str | None
) -> None:
    assert remark(described_anew=False, measures=True) is None
    if text is None:
        host.unlink()
    else:
        host.write_text(text)
    assert remark(described_anew=False, measures=True) is None


@pytest.mark.parametrize(
    ("described_anew", "measures", "end"),
    [
        (True, True, ", so every cell is measured again."),
        (False, True, "; remove results/host.json so that this host is measured alone, or use "),
        (False, False, ", and they stay as they are; remove results/host.json to measure this "),
    ],
)
def test_another_host_is_said_with_what_follows_and_changes_nothing(
    host: Path, described_anew: bool, measures: bool, end: str
) -> None:
    other = json.dumps({"identity": host_identity() | {"kernel_release": "5.10-test"}})
    host.write_text(other)
    said = remark(described_anew=described_anew, measures=measures)
    assert said is not None
    assert said.startswith(
        "copycost: this is not the host of the earlier results (kernel_release was 5.10-test, is "
    )
    assert end in said
    assert host.read_text() == other
