"""Golden texts by branch: what each branch of a template says, a line each."""

from collections.abc import Mapping
from pathlib import Path

from golden.compare import GOLDEN, golden_text

from copycost.wording.paragraphs import one_line


def check_branches(name: str, texts: Mapping[str, str]) -> None:
    """Compare what the branches say with the golden text ``report/NAME.md``, a line for each."""
    lines = [f"- {branch}: {one_line(text) or '(nothing)'}\n" for branch, text in texts.items()]
    text = f"# {name}\n\n{''.join(lines)}".replace("\N{NO-BREAK SPACE}", " ")
    assert text == golden_text(Path(GOLDEN, "report", f"{name}.md"), text)
