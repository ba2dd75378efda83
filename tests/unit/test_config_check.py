"""The configuration: what is accepted, and how every problem is named."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from copycost.config import Config
from copycost.config_check import check_config
from copycost.errors import ConfigError

ROOT = Path(__file__).parents[2]
DEFAULT = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def check(
    changes: Mapping[str, Any] | None = None, name: str = "config.yaml", cpus: int = 2
) -> Config:
    """Check the default configuration with `changes`, dotted keys and values."""
    raw = copy.deepcopy(DEFAULT)
    over: dict[str, Any] = {}
    for dotted, value in (changes or {}).items():
        *sections, key = dotted.split(".")
        for tree in (raw, over):
            node = tree
            for section in sections:
                node = node.setdefault(section, {})
            node[key] = value
    return check_config(
        raw,
        sources=[("config.yaml", DEFAULT), (name, over)],
        implementations=["two_copy", "one_copy", "zero_copy"],
        usable_cpus=range(cpus),
    )


def problems(changes: Mapping[str, Any], name: str = "config.yaml") -> list[str]:
    with pytest.raises(ConfigError) as error:
        check(changes, name)
    return str(error.value).splitlines()


def test_the_default_configuration_is_sound() -> None:
    config = check()
    assert config.streams.msg_bytes == (256, 1024, 4096, 16384, 65536, 262144, 1048576)
    assert config.measure.send_buffer_bytes is None
    assert config.measure.cpus.sender is None
    assert config.measure.settings().duration_s == config.measure.duration_s


@pytest.mark.parametrize("name", ["tiny", "thorough"])
def test_the_other_configurations_are_sound(name: str) -> None:
    over = yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text(encoding="utf-8"))
    check({f"{section}.{key}": value for section in over for key, value in over[section].items()})


def test_a_saved_configuration_reads_back_the_same() -> None:
    config = check({"measure.send_buffer_bytes": "64KiB", "measure.cpus.sender": [1]})
    saved = yaml.safe_load(yaml.safe_dump(config.as_dict()))
    assert Config.from_dict(saved) == config
    assert saved["measure"]["receive_buffer_bytes"] == "kernel"


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("measure.duration_s", -1, "got -1, must be > 0"),
        ("measure.duration_s", "long", "got 'long', must be a number of seconds"),
        ("measure.duration_s", None, "got nothing, must be a number of seconds"),
        ("measure.duration_s", True, "got true, must be a number of seconds"),
        ("measure.warmup_s", float("nan"), "got nan, must be a number of seconds"),
        ("measure.warmup_s", 1.0, "got 1.0, must be shorter than measure.duration_s, which is 1.0"),
        ("measure.repetitions", 0, "got 0, must be >= 1"),
        ("measure.repetitions", 2.5, "got 2.5, must be a whole number of repetitions"),
        ("measure.tcp_nodelay", "yes", "got 'yes', must be one of kernel, on, off"),
        (
            "measure.cpus.sender",
            [0, 7],
            "got 7, must be among the CPUs that this process may use, 0-1",
        ),
        ("measure.cpus.sender", "any", "got 'any', must be auto, or a list of CPU numbers"),
        ("measure.cpus", 3, "got 3, must be a section with sender and receiver"),
        ("measure.send_buffer_bytes", "64K", "got '64K', must be kernel, or a size such as 64KiB"),
        ("streams.n_threads", [1, 1000], "got 1000, must be <= 256"),
        ("streams.n_threads", [], "got [], must be a list of numbers of threads, at least one"),
        ("streams.n_threads", 4, "got 4, must be a list of numbers of threads, at least one"),
        ("streams.msg_bytes", ["64KiB", -4], "got -4, must be >= 1 B"),
        ("streams.msg_bytes", ["1GiB"], "got '1GiB', must be <= 64 MiB"),
        ("streams.msg_bytes", ["64 kB"], "got '64 kB', must be a size such as 4096 or 64KiB"),
        (
            "streams.msg_bytes",
            ["64KiB", 65536],
            "has 64 KiB more than once, must list each value once",
        ),
        (
            "streams.testbeds",
            ["vet"],
            "got 'vet', must be one of veth, veth_no_offload, loopback; did you mean veth?",
        ),
        (
            "streams.implementations",
            ["two_cpy"],
            "got 'two_cpy', must be one of one_copy, two_copy, zero_copy "
            "(the files of src/strategies); did you mean two_copy?",
        ),
        ("statistics.confidence", 95, "got 95, must be < 1"),
        ("report.formats", ["html", "doc"], "got 'doc', must be one of html, pdf"),
        ("report.title", " ", "got ' ', must be a text of one line"),
        ("report.titel", "x", "unknown key; did you mean title?"),
        ("extra", 1, "unknown key"),
    ],
)
def test_a_problem_is_named_in_one_line(key: str, value: object, text: str) -> None:
    assert problems({key: value}) == [f"config.yaml: {key}: {text}"]


def test_all_problems_are_named_at_once() -> None:
    lines = problems(
        {
            "measure.duration_s": -1,
            "measure.duraton_s": 3,
            "streams.n_threads": [1000, "two", 2, 2],
            "streams.implementations": ["two_cpy", 5],
        }
    )
    assert [line.split(": ", 2)[1] for line in lines] == [
        "measure.duration_s",
        "measure.duraton_s",
        "streams.implementations",
        "streams.implementations",
        "streams.n_threads",
        "streams.n_threads",
        "streams.n_threads",
    ]


def test_a_missing_key_is_named() -> None:
    raw = copy.deepcopy(DEFAULT)
    del raw["measure"]["duration_s"]
    del raw["report"]
    with pytest.raises(ConfigError) as error:
        check_config(
            raw,
            sources=[("config.yaml", raw)],
            implementations=["two_copy", "one_copy", "zero_copy"],
            usable_cpus=[0],
        )
    assert str(error.value).splitlines() == [
        "config.yaml: measure.duration_s: missing, must be a number of seconds",
        "config.yaml: report: missing, must be a section that says how the report looks",
    ]


def test_the_source_that_states_the_value_is_named() -> None:
    lines = problems({"measure.warmup_s": 3}, name="config/mine.yaml")
    assert lines == [
        "config/mine.yaml: measure.warmup_s: got 3, must be shorter than measure.duration_s, "
        "which is 1.0"
    ]


@pytest.mark.parametrize(("value", "meant"), [(True, "on"), (False, "off"), ("kernel", "kernel")])
def test_on_and_off_mean_what_they_say_although_yaml_takes_them_for_booleans(
    value: object, meant: str
) -> None:
    assert check({"measure.tcp_nodelay": value}).measure.tcp_nodelay == meant


def test_a_configuration_that_is_no_tree_is_refused() -> None:
    assert "config.yaml: measure: got nothing, must be a section that says how to measure" in (
        problems({"measure": None})
    )


def test_every_key_of_the_schema_is_described_with_its_unit() -> None:
    schema = yaml.safe_load(
        (ROOT / "workflow" / "schemas" / "config.schema.yaml").read_text(encoding="utf-8")
    )

    def walk(node: Mapping[str, Any], path: str) -> None:
        if node.get("type") == "object":
            assert node["additionalProperties"] is False, path
            assert sorted(node["required"]) == sorted(node["properties"]), path
            for key, below in node["properties"].items():
                walk(below, f"{path}.{key}")
        else:
            assert "title" in node, path
            assert any(mark in node["description"] for mark in "[("), f"{path} has no unit"
            if "items" in node:
                walk(node["items"], f"{path}[]")

    walk(schema, "")
