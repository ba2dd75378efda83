import re
import sys
from pathlib import Path

import pytest
import yaml

from copycost.build.toolchain import strategies
from copycost.cli.doctor.command import read_peer
from copycost.cli.show_config import main
from copycost.config.check import check_config
from copycost.config.checkout import ROOT
from copycost.config.sources import DEFAULTS, USER_FILE, Surroundings, read_sources
from copycost.config.structure import from_plain
from copycost.config.wire import Peer, Wire
from copycost.errors import ConfigError

AROUND = Surroundings(strategies(ROOT), range(2), memory_bytes=8 << 30)
OURS = (ROOT / DEFAULTS, ROOT / USER_FILE)


def test_what_is_wrong_is_named_with_its_line_and_defaults_where_they_can_be_overridden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in OURS:
        here = path.relative_to(ROOT)
        here.parent.mkdir(parents=True, exist_ok=True)
        here.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    mine = Path("mine.yaml")
    mine.write_text("# first\nstreams:\n  n_threads: [1,\n    two]\n  treads: 1\n")
    with pytest.raises(ConfigError) as refused:
        check_config(read_sources([DEFAULTS, USER_FILE, mine], {}), AROUND)
    assert str(refused.value).splitlines() == [
        "mine.yaml: line 4: streams.n_threads: got 'two', must be a whole number of threads from 1 "
        "to 256",
        "mine.yaml: line 5: streams.treads: unknown key; did you mean n_threads?",
    ]
    mine.write_text("streams: {testbeds: [wire]}\n")
    with pytest.raises(ConfigError, match=r"^config\.yaml: wire\.peer: got none, must name"):
        check_config(read_sources([DEFAULTS, USER_FILE, mine], {}), AROUND)


def test_where_each_value_comes_from_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--configfile", str(ROOT / "config/tiny.yaml"), "--minutes", "5"]) == 0
    shown = capsys.readouterr().out
    assert yaml.safe_load(shown)["streams"]["msg_bytes"] == ["1KiB", "16KiB", "64KiB"]
    origins = dict(re.findall(r"^  (\w+): .*\S +# (.*)$", shown, re.MULTILINE))
    assert origins["minutes"] == "command line"
    assert origins["congestion_control"] == "default"
    assert re.fullmatch(r"config/tiny\.yaml, line \d+", origins["resamples"])


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
    files = [*OURS, tmp_path / "stated.yaml", tmp_path / "said.yaml"]
    files[2].write_text(yaml.safe_dump({"wire": stated}))
    files[3].write_text(yaml.safe_dump({"wire": said}))
    expected = from_plain(becomes, Wire)
    assert check_config(read_sources(files[:3], {"wire": said}), AROUND).wire == expected
    assert check_config(read_sources(files, {}), AROUND).wire == expected


def test_commands_that_take_a_machine_have_what_is_stated_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({"wire": {**LAB1, "more": [LAB2]}}))
    first = read_peer("me@lab1", path)
    assert (first.ssh_options, first.name) == (("-i", "key1"), "near")
    assert first.port_range == (5201, 5216)
    assert read_peer("me@lab2", path).port_range == (6000, 6010)
    assert read_peer("me@lab3", path) == Peer("me@lab3")
    path.write_text("wire: {peer: me@lab1}\n")
    assert read_peer("me@lab1", path) == Peer("me@lab1")
    path.write_text("wire: {ssh_options: 3}\n")
    with pytest.raises(ConfigError, match=r"config\.yaml: wire: is not as it has to be"):
        read_peer("me@lab1", path)
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "copycost.config.sources", None)
    assert read_peer("me@lab1", path) == Peer("me@lab1")
    assert "is not read before ./run setup" in capsys.readouterr().err
