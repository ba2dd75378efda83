import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from copycost.build.toolchain import strategies
from copycost.config.check import check_config
from copycost.config.rules import Surroundings
from copycost.config.sources import require_yaml, resolve
from copycost.errors import ConfigError
from copycost.snakefile import entry

ROOT = Path(__file__).parents[2]


def test_the_same_host_has_no_changes() -> None:
    host = {"n_cpus": 2, "mitigations": {"mds": "on"}}
    assert entry.host_changes(host, {"n_cpus": 2, "mitigations": {"mds": "on"}}) == []


def test_every_change_of_the_host_is_named() -> None:
    known = {"kernel_release": "6.1", "n_cpus": 2, "mitigations": {"mds": "on", "l1tf": "on"}}
    now = {"kernel_release": "6.12", "governor": None, "mitigations": {"mds": "off", "l1tf": "on"}}
    assert entry.host_changes(known, now) == [
        "kernel_release was 6.1, is 6.12",
        "mitigations.mds was on, is off",
        "n_cpus was 2, is unknown",
    ]


def test_a_long_value_is_cut_short() -> None:
    (change,) = entry.host_changes({"kernel_version": "x" * 200}, {"kernel_version": "y"})
    assert len(change) < 120


def test_a_study_is_a_chapter_where_it_is_enabled_measured_or_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tree = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    around = Surroundings(strategies(ROOT), range(2), memory_bytes=8 << 30)
    config = check_config(tree, sources=[("config.yaml", tree)], around=around)
    assert entry.is_chapter(config, "profile")
    assert not entry.is_chapter(config, "datagrams")
    facts = Path("results/datagrams/facts.json")
    facts.parent.mkdir(parents=True)
    facts.write_text("{}")
    assert entry.is_chapter(config, "datagrams")
    assert not entry.is_chapter(config, "cpu_budget")
    monkeypatch.setattr("sys.argv", ["snakemake", "--cores", "1", "cpu_budget", "report"])
    assert entry.is_chapter(config, "cpu_budget")


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


HEAVY = {"matplotlib", "numpy", "pandas", "scipy", "seaborn"}


def test_what_every_start_imports_is_light() -> None:
    rules = [ROOT / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in rules)
    imports = re.findall(r"^(?:from copycost\S* )?import (?:\([^)]*\)|.*$)", text, re.MULTILINE)
    assert len(imports) > 10
    code = "\n".join([*imports, "import sys", "print(*sys.modules)"])
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "workflow",
        capture_output=True,
        text=True,
        check=True,
    )
    assert HEAVY.isdisjoint(done.stdout.split())
