"""The text of a configuration: whatever it holds, it is one or is refused in clear sentences."""

import copy
import itertools
import operator
import re
from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import yaml

from copycost.build.toolchain import strategies
from copycost.config.check import check_config
from copycost.config.config import Config
from copycost.config.grid import MOST_REPETITIONS, Grid
from copycost.config.sources import (
    DEFAULTS,
    Source,
    Surroundings,
    read_sources,
    require_yaml,
    usual_tree,
)
from copycost.errors import ConfigError
from tests.mutations import mutated_texts

ROOT = Path(__file__).parents[3]
TREE = usual_tree()
AROUND = Surroundings(strategies(ROOT), range(2), memory_bytes=8 << 30)
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
