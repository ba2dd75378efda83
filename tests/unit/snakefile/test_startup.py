import re
import subprocess
import sys

from copycost.checkout import ROOT

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
