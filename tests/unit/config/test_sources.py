"""Where a configuration comes from; whatever its texts hold, they are one or refused clearly."""

import copy
import itertools
import operator
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import yaml

from copycost.build.toolchain import strategies
from copycost.cli.doctor.command import read_peer
from copycost.cli.show_config import main
from copycost.config.check import check_config
from copycost.config.checkout import ROOT
from copycost.config.config import Config
from copycost.config.grid import MOST_REPETITIONS, Grid
from copycost.config.sources import (
    DEFAULTS,
    USER_FILE,
    Source,
    Surroundings,
    read_sources,
    require_yaml,
    usual_tree,
)
from copycost.config.structure import from_plain
from copycost.config.wire import Peer, Wire
from copycost.errors import ConfigError
from tests.mutations import mutated_texts

AROUND = Surroundings(strategies(ROOT), range(2), memory_bytes=8 << 30)
OURS = (ROOT / DEFAULTS, ROOT / USER_FILE)
TREE = usual_tree()
N_TEXTS = 120

ODD_TEXTS = (
    " ", "7", "0.9", "true", "[hot]", "[1, 2]",
    "\0", "\x07", "&a [*a]", "*a", "[" * 200, "{" * 40, "2024-13-45", "2024-01-02", "? [a]\n: 1",
    "9" * 5000, "0x" + "f" * 5000, "1:" * 3000, ".nan", "-.inf", "1.0e+999", "!!binary x", "<<: 1",
    "!!python/object:os.system x", "!!set {a}", "\t", "---\n", "'", '"\\ud800"', '"\\0"', "~",
    "\ufeff", "&b [1, 2]", "!!int x", "!!float x", "|\n", "%YAML 3.0\n", "123: 1", "\u0665",
    "- ", ": ", "#",
)  # fmt: skip
ODD_VALUES: tuple[object, ...] = (
    None, True, -1, 0, 2.0, 1e400, float("nan"), 10**25, "", "a\0b", "\ud800", "hot",
    "64KiB\n", "9" * 5000 + "KiB", "\u0665KiB", "two_copy_x" + "9" * 50, [], {}, [[1]], {1: 2},
    [None], ["hot", "hot", 8192, 8192], list(range(1, 300)), ("a",), b"x", {"sender": None},
    "x" * 100_000, "*a", "{a: [", "2024-13-45", "&a [*a]", "a\nb", 10**400, {"peer": 1}, {"a": 1},
)  # fmt: skip


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


@pytest.mark.parametrize(
    ("hosts", "places"), [("{where: [slurm]}", "slurm"), ("{where: local}", ""), ("3", "")]
)
def test_places_that_are_none_are_left_to_the_check(
    tmp_path: Path, hosts: str, places: str
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"hosts: {hosts}\n")
    words = [sys.executable, "-m", "copycost.config.sources", "--places", path]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "workflow")}
    assert subprocess.check_output(words, cwd=ROOT, env=env, text=True) == f"{places}\n"
    if not places:
        with pytest.raises(ConfigError, match=r"hosts.*: got .*, must be a (list|section)"):
            check_config(read_sources([*OURS, path], {}), AROUND)


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


def checked(path: Path, said: Mapping[str, Any] | None = None) -> Config | str:
    """Return the configuration, or what is said against it."""
    try:
        return check_config(read_sources([path], said or {}), AROUND)
    except ConfigError as error:
        return str(error)


def assert_clear(told: Config | str, about: object) -> None:
    if isinstance(told, str):
        assert told, about
        for line in told.splitlines():
            assert ": " in line or line.startswith("the configuration asks"), about
            assert line.isprintable(), about
            assert len(line) < 700, about


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: x\nb: 'a\0b'\n", "c.yaml: not YAML: unacceptable character #x0000"),
        ("a: &a {b: *a}\n", "line 1: not YAML: an anchor or alias, a; write out what is meant"),
        (f"a: {'[' * 1000}{']' * 1000}\n", "not YAML: more than 20 levels; sections have 3 at mo"),
        ("a: 2024-13-45\n", "c.yaml: not YAML: month must be in 1..12"),
        ("? [a]\n: 1\n", "line 1: not YAML: a key that is no name; keys are words such as msg_by"),
        ("a:\n  1: 2\n", "line 2: not YAML: a key that is no name"),
        (f"a: {'9' * 5000}\n", "c.yaml: not YAML: Exceeds the limit"),
        ("a: 1\n" * (10 << 20 >> 5), "too large, must be at most 256 KiB"),
        ("a:\n  - 1\n b: 2\n", "c.yaml: line 3: not YAML: "),
        ("just a text", "c.yaml: got a single value, must consist of sections such as "),
        ("", "c.yaml: got nothing, must consist of sections such as streams and "),
        ("a:\n  b: 1\nc: 2\na: 3\n", "c.yaml: line 4: not YAML: a stands there twice"),
        ("a:\n  b: 1\n  b: 2\n", "c.yaml: line 3: not YAML: b stands there twice"),
        (None, "c.yaml: not found in "),
    ],
)  # fmt: skip
def test_what_is_no_configuration_is_refused_in_a_sentence(
    text: str | None, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "c.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SystemExit, match=re.escape(said)):
        require_yaml(str(path))


def test_a_grid_that_nobody_can_measure_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump(TREE))
    told = checked(path, {"measure": {"repetitions": "10000"}})
    assert str(told).startswith("the configuration asks for 1410196 repetitions (streams 840000, ")
    assert f"must ask for at most {MOST_REPETITIONS}, so" in str(told)


@pytest.mark.parametrize(
    "value", ["&a [*a]", "2024-13-45", "9" * 5000, "{? [a] : 1}", "{1: 2}", "[" * 500, "a\0b"]
)
def test_the_command_line_is_refused_in_a_sentence(value: str) -> None:
    for said in ({"measure": value}, {"measure": {"duration_s": value}}, {value: {"a": 1}}):
        told = checked(ROOT / DEFAULTS, said)
        assert isinstance(told, str)
        assert told.startswith("--config: ")
        assert_clear(told, said)


@pytest.mark.slow
def test_a_damaged_text_is_a_configuration_or_a_sentence(tmp_path: Path) -> None:
    bare = yaml.safe_dump(TREE, sort_keys=False)
    path = tmp_path / "c.yaml"
    accepted = 0
    for text in mutated_texts(bare, N_TEXTS, seed=1, odd=ODD_TEXTS):
        path.write_text(text, encoding="utf-8")
        told = checked(path)
        assert_clear(told, text)
        accepted += isinstance(told, Config)
    assert 0 < accepted < N_TEXTS / 2


def paths_below(node: object, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the way to a value, and to each below it; of a list, to its first."""
    yield path
    if isinstance(node, Mapping):
        for key in node:
            yield from paths_below(node[key], (*path, key))
    elif isinstance(node, list) and node:
        yield from paths_below(node[0], (*path, 0))


@pytest.mark.slow
@pytest.mark.parametrize("section", TREE)
def test_a_value_of_any_kind_is_taken_or_named_in_a_sentence(section: str) -> None:
    """Each key has every fourth value, and each value every fourth key."""
    for number, (*holders, key) in enumerate(paths_below(TREE[section], (section,))):
        for value, among in itertools.product(ODD_VALUES[number % 4 :: 4], (False, True)):
            tree = copy.deepcopy(TREE)
            node = reduce(operator.getitem, holders, tree)
            if among and not isinstance(node[key], list):
                continue
            node[key] = [*node[key], value] if among else value
            try:
                Grid.of(check_config([Source("config.yaml", tree)], AROUND))
            except ConfigError as error:
                assert_clear(str(error), (*holders, key, value))
