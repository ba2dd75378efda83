import re
from pathlib import Path

from copycost.snakefile import messages

ROOT = Path(__file__).parents[3]


def test_targets_are_rules() -> None:
    rules = "\n".join(
        path.read_text(encoding="utf-8")
        for path in [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
    )
    assert set(messages.TARGETS) <= set(re.findall(r"^rule (\w+):", rules, re.MULTILINE))
