import re
from pathlib import Path

import pytest

from copycost.snakefile import targets

ROOT = Path(__file__).parents[3]

# As Snakemake 9.27 says it.
UNKNOWN = (
    "MissingRuleException:\nNo rule to produce {} (if you use input functions make sure that they "
    "don't raise unexpected exceptions)."
)


@pytest.mark.parametrize(
    ("target", "meant"),
    [("tabels", "tables"), ("figure", "figures"), ("retry-faild", "retry-failed")],
)
def test_a_misspelt_target_or_command_is_named_with_what_was_meant(target: str, meant: str) -> None:
    said = targets.reworded(UNKNOWN.format(target))
    assert said.startswith(f"copycost: {target}: there is no such target; targets are measure, ")
    assert said.endswith(f"; did you mean {meant}?")
    assert "\n" not in said


def test_a_target_like_no_other_is_named_without_a_guess() -> None:
    said = targets.reworded(UNKNOWN.format("results/a b.json"))
    assert said.startswith("copycost: results/a b.json: there is no such target; ")
    assert "did you mean" not in said


def test_other_messages_stay_as_they_are() -> None:
    assert targets.reworded("Building DAG of jobs...") == "Building DAG of jobs..."


def test_targets_are_rules_and_commands_are_those_of_run() -> None:
    rules = "\n".join(
        path.read_text(encoding="utf-8")
        for path in [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
    )
    assert set(targets.TARGETS) <= set(re.findall(r"^rule (\w+):", rules, re.MULTILINE))
    front_door = (ROOT / "run").read_text(encoding="utf-8")
    commands = set(re.findall(r"^([a-z-]+)(?: \|.*)?\)", front_door, re.MULTILINE)) - {"audit"}
    assert commands == set(targets.COMMANDS)
