"""What there is to be asked for: targets, files that a run makes, sections of the configuration."""

import os
import re
from pathlib import Path

from copycost.checkout import SCHEMAS
from copycost.config.audit_files import KEYS as AUDIT_KEYS
from copycost.errors import CopycostError
from copycost.snakefile.messages import COMMANDS, unknown_target
from copycost.wording.words import did_you_mean

_RULE = re.compile(r"^(?:rule|checkpoint) (\w+):", re.MULTILINE)
_SECTION = re.compile(r"^  (\w+):$", re.MULTILINE)
_MADE = re.compile(r"\bresults/([\w.]+)")
# whose names below results the rules have from the package
_MADE_BY_PACKAGE = frozenset({"raw", "passes"})


class UsageError(CopycostError):
    """Words that say nothing that could be done."""


def require_section(setting: str) -> None:
    """Refuse NAME=VALUE of no section, of which Snakemake would show a traceback.

    Raises
    ------
    UsageError
        With the sections that there are.
    """
    text = (SCHEMAS / "config.schema.yaml").read_text(encoding="utf-8")
    known = [*_SECTION.findall(text.partition("\n$defs:")[0]), *AUDIT_KEYS]
    if (name := setting.partition("=")[0]) not in known:
        raise UsageError(
            f"--config {name}=...: there is no such section; sections are "
            f"{', '.join(known)}{did_you_mean(name, known)}"
        )


def require_target(word: str) -> None:
    """Refuse a word that is no target, no rule, and no file that a rule could make.

    Raises
    ------
    UsageError
        With the targets that there are.
    """
    rules = _rules()
    made = {*_MADE_BY_PACKAGE, *_MADE.findall(rules)}
    below, _, file = os.path.normpath(word).partition("/")
    if below == "results" and file.partition("/")[0] in made:
        return
    if Path(word).is_file() or word in _RULE.findall(rules):
        return
    if word in COMMANDS:
        raise UsageError(f"{word}: is a command by itself; it must come first: ./run {word}")
    raise UsageError(unknown_target(word))


def _rules() -> str:
    paths = [Path("Snakefile"), *Path("workflow/rules").glob("*.smk")]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())
