import re
from pathlib import Path

from copycost.snakefile import targets

ROOT = Path(__file__).parents[3]


def test_targets_are_rules_and_commands_are_those_of_run() -> None:
    rules = "\n".join(
        path.read_text(encoding="utf-8")
        for path in [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
    )
    assert set(targets.TARGETS) <= set(re.findall(r"^rule (\w+):", rules, re.MULTILINE))
    front_door = (ROOT / "run").read_text(encoding="utf-8")
    cases = re.findall(r"^([a-z][a-z |-]*)\)", front_door, re.MULTILINE)
    words = " | ".join(cases).split(" | ")
    targets_too = {"audit", "report"}
    commands = {word for word in words if not word.startswith("-")} - targets_too
    assert commands | {"more"} == set(targets.COMMANDS)  # `more` is taken apart with its words
