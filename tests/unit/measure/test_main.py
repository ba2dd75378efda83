"""The command line for measuring one repetition by hand."""

from pathlib import Path

import pytest

from copycost.measure.__main__ import main


@pytest.mark.parametrize(
    "wrong", [["--msg-bytes", "64KB"], ["--testbed", "moon"], ["--threads", "0"], []]
)
def test_bad_usage_is_exit_code_2(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["one_copy", *wrong] if wrong else [])
    assert ended.value.code == 2
    assert "usage: python -m copycost.measure" in capsys.readouterr().err


def test_missing_host_facts_are_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["one_copy", "--host", str(tmp_path / "host.json")]) == 1
    assert "host.json" in capsys.readouterr().err
