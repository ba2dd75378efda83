import re
import subprocess
import sys

from copycost.checkout import ROOT

HEAVY = {"matplotlib", "numpy", "pandas", "scipy", "seaborn"}


def modules_after(code: str) -> set[str]:
    """Return what is imported once some code has run."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        cwd=ROOT / "workflow",
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_what_every_start_imports_is_light() -> None:
    rules = [ROOT / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in rules)
    imports = re.findall(r"^(?:from copycost\S* )?import (?:\([^)]*\)|.*$)", text, re.MULTILINE)
    assert len(imports) > 10
    assert HEAVY.isdisjoint(modules_after("\n".join(imports)))


def test_commands_that_answer_are_light() -> None:
    for name in ("report.decisions_command", "studies.capacity_command"):
        assert HEAVY.isdisjoint(modules_after(f"import copycost.{name}")), name
