from pathlib import Path

import pytest
import yaml

from copycost.build.checkout import ROOT
from copycost.build.toolchain import strategies
from copycost.config.problems import Surroundings
from copycost.config.sources import require_yaml, resolve
from copycost.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a:\n  - 1\n b: 2\n", "config.yaml: line 3: not YAML: "),
        ("\tmeasure: 1\n", "config.yaml: line 1: not YAML: "),
        (
            "just a text",
            "config.yaml: got a single value, must consist of sections such as ",
        ),
        ("", "config.yaml: got nothing, must consist of sections such as streams and "),
        ("a:\n  b: 1\nc: 2\na: 3\n", "config.yaml: line 4: not YAML: a stands there twice"),
        ("a:\n  b: 1\n  b: 2\n", "config.yaml: line 3: not YAML: b stands there twice"),
        (None, "config.yaml: not found in "),
    ],
)
def test_a_file_that_is_no_configuration_is_named(
    text: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("config.yaml").write_text(text)
    with pytest.raises(SystemExit) as ended:
        require_yaml("config.yaml")
    assert str(ended.value.code).startswith(said)


def test_a_setting_on_the_command_line_that_is_no_yaml_is_named() -> None:
    tree = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    around = Surroundings(strategies(ROOT), range(2), memory_bytes=8 << 30)
    with pytest.raises(ConfigError, match=r"^--config: measure: got '{repetitions:', must be a s"):
        resolve(tree, [ROOT / "config.yaml"], {"measure": "{repetitions:"}, around)


def test_a_broken_encoding_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_bytes(b"title: \xff\xfe\n")
    with pytest.raises(SystemExit, match=r"config\.yaml: not UTF-8 text"):
        require_yaml("config.yaml")
