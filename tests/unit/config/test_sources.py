import sys
from pathlib import Path

import pytest
import yaml

from copycost.build.checkout import ROOT
from copycost.build.toolchain import strategies
from copycost.config.peers import read_peer
from copycost.config.problems import Surroundings
from copycost.config.sources import require_yaml, resolve
from copycost.config.structure import from_plain
from copycost.config.wire import Peer, Wire
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


BASE = {"peer": "none", "alias": "auto", "address": "auto", "ports": "auto", "ssh_options": [],
        "udp_mbit_per_s": "link", "more": []}  # fmt: skip
LAB1 = {**BASE, "peer": "me@lab1", "alias": "near", "address": "192.0.2.1", "ports": "5201-5216",
        "ssh_options": ["-i", "key1"], "udp_mbit_per_s": 500}  # fmt: skip
LAB2 = {"peer": "me@lab2", "alias": "far", "ports": "6000-6010"}


@pytest.mark.parametrize(
    ("stated", "said", "becomes"),
    [
        # another machine has nothing of the one that is configured
        ({**LAB1, "more": [LAB2]}, {"peer": "me@lab3"}, {**BASE, "peer": "me@lab3"}),
        # one that is configured has all of its own
        ({**LAB1, "more": [LAB2]}, {"peer": "me@lab1"}, {**LAB1, "more": [LAB2]}),
        ({**LAB1, "more": [LAB2]}, {"peer": "me@lab2"}, {**BASE, **LAB2}),
        (
            {**LAB1, "more": [LAB2]},
            {"peer": "me@lab2", "more": [{"peer": "me@lab1"}, {"peer": "me@lab3"}]},
            {**BASE, **LAB2, "more": [{k: v for k, v in LAB1.items() if k != "more"},
                                      {"peer": "me@lab3"}]},
        ),
        # what is stated of nobody is of whoever is named
        ({**LAB1, "peer": "none"}, {"peer": "me@lab3"}, {**LAB1, "peer": "me@lab3"}),
        ({**BASE, "more": [LAB2]}, {"peer": "me@lab2"}, {**BASE, "peer": "me@lab2"}),
        # a source that names nobody speaks of the one below
        (LAB1, {"ports": "auto"}, {**LAB1, "ports": "auto"}),
    ],
)  # fmt: skip
def test_a_machine_that_is_named_has_what_is_stated_of_it_and_of_no_other(
    tmp_path: Path, stated: dict[str, object], said: dict[str, object], becomes: dict[str, object]
) -> None:
    around = Surroundings(strategies(ROOT), range(2), memory_bytes=8 << 30)
    tree = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({**tree, "wire": stated}))
    merged = {**tree, "wire": {**stated, **said}}  # as Snakemake does
    expected = from_plain(becomes, Wire)
    assert resolve(merged, [path], {"wire": said}, around).wire == expected
    # and of files
    other = tmp_path / "other.yaml"
    other.write_text(yaml.safe_dump({"wire": said}))
    assert resolve(merged, [path, other], {}, around).wire == expected


def test_commands_that_take_a_machine_have_what_is_stated_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({"wire": {**LAB1, "more": [LAB2]}}))
    first = read_peer("me@lab1", print, path)
    assert (first.ssh_options, first.name) == (("-i", "key1"), "near")
    assert first.port_range == (5201, 5216)
    assert read_peer("me@lab2", print, path).port_range == (6000, 6010)
    assert read_peer("me@lab3", print, path) == Peer("me@lab3")
    path.write_text("wire: {peer: me@lab1}\n")
    with pytest.raises(ConfigError, match=r"config\.yaml: wire: is not as it has to be"):
        read_peer("me@lab1", print, path)
    assert capsys.readouterr().out == ""
    monkeypatch.setitem(sys.modules, "copycost.config.text", None)
    assert read_peer("me@lab1", print, path) == Peer("me@lab1")
    assert "is not read before ./run setup" in capsys.readouterr().out
