"""The numbers of a report's text and tables, each held against the raw records."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import yaml

from tools.recompute import (
    report_tables,
    sentences,  # noqa: F401  its forms join FORMS
)
from tools.recompute.document import NUMBER, Sentence, Table, parts
from tools.recompute.run import Run
from tools.recompute.slots import NAMES, agrees, read
from tools.recompute.told import FORMS, Handler, NotRecomputedError, Told

Verdict = Literal["agrees", "differs", "fixed", "not recomputed"]
_TEMPLATES = Path(__file__).parents[2] / "report"
# So few words may stand in a template by chance.
_FEW_WORDS = 2
# What authors say of their runs.
_SOURCES = Path(__file__).parents[2] / "data/published/sources.yaml"


@dataclass(frozen=True)
class Finding:
    """What became of one number (or word for a number): `start` is its place in the text."""

    verdict: Verdict
    section: str
    text: str
    within: str
    said: str = ""
    start: int = 0


class Checker:
    """Holds the numbers of a report against what a run's records give."""

    def __init__(self, results: Path) -> None:
        self.run = Run(results)
        self.parts = list(parts((results / "report/report.qmd").read_text(encoding="utf-8")))

    @cached_property
    def fixed_text(self) -> str:
        """What stands in the templates whatever was measured; a mark where a value goes."""
        texts = [path.read_text(encoding="utf-8") for path in sorted(_TEMPLATES.rglob("*.j2"))]
        texts += [path.read_text(encoding="utf-8") for path in sorted(_TEMPLATES.rglob("*.yaml"))]
        for run in yaml.safe_load(_SOURCES.read_text(encoding="utf-8"))["runs"]:
            differences = "; ".join(run["differences"])
            texts.append(f"{run['system']}: {run['method']}. What differs: {differences}.")
        marked = re.sub(
            r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", "\N{BULLET}", "\n".join(texts), flags=re.S
        )
        return " ".join(marked.split())

    def findings(self) -> Iterator[Finding]:
        """Yield what became of every number of the report."""
        for part in self.parts:
            yield from self.check(part)

    def check(self, part: Sentence | Table) -> list[Finding]:
        """Return what became of each number of a sentence or table."""
        if isinstance(part, Table):
            return list(self.check_table(part))
        found = list(self._matched(part))
        taken = {(each.start, each.start + len(each.text)) for each in found}
        for number in NUMBER.finditer(part.text):
            if not any(start <= number.start() < end for start, end in taken):
                verdict: Verdict = (
                    "fixed" if self._is_fixed(part.text, number) else "not recomputed"
                )
                found.append(
                    Finding(verdict, part.section, number[0], part.text, "", number.start())
                )
        return found

    def _matched(self, sentence: Sentence) -> Iterator[Finding]:
        matches = [
            (match, kinds, handler)
            for expression, kinds, handler in FORMS
            for match in expression.finditer(sentence.text)
        ]
        # of forms that overlap the longest says most, in whatever order they were read
        matches.sort(key=lambda each: each[0].start() - each[0].end())
        taken: list[tuple[int, int]] = []
        for match, kinds, handler in matches:
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            if held := list(self._held(sentence, match, kinds, handler)):
                taken.append(match.span())
                yield from held

    def _held(
        self, sentence: Sentence, match: re.Match[str], kinds: list[str], handler: Handler
    ) -> Iterator[Finding]:
        told = Told(self.run, self.condition_of(sentence), sentence)
        texts = match.groups()
        said = ""
        try:
            sizes = self.run.all_sizes
            slots = [read(kind, text, sizes) for kind, text in zip(kinds, texts, strict=True)]
            expected = handler(told, *slots)
        except NotRecomputedError:
            return
        except (LookupError, ValueError, AssertionError, StopIteration) as problem:
            expected, said = None, f"{type(problem).__name__}: {problem}"
        if said and set(kinds) <= NAMES:  # there is no number to find fault with
            yield Finding("differs", sentence.section, match[0], sentence.text, said, match.start())
        for place, (kind, text) in enumerate(zip(kinds, texts, strict=True), start=1):
            if kind in NAMES:
                continue
            value = None if expected is None else expected[place - 1]
            right = expected is not None and (
                value is None or agrees(kind, text, value, self.run.settings.resampling)
            )
            yield Finding(
                "agrees" if right else "differs",
                sentence.section,
                text,
                sentence.text,
                said or f"recomputed {value}",
                match.start(place),
            )

    def condition_of(self, part: Sentence | Table) -> str:
        """Return the condition that a part is about: named in its paragraph, or the section's."""
        if isinstance(part, Sentence) and part.named in self.run.conditions:
            return str(part.named)
        slugs = {condition.replace("_", "-"): condition for condition in self.run.conditions}
        text = part.section if isinstance(part, Sentence) else part.id
        fitting = [slug for slug in slugs if re.search(rf"-{slug}(-|$)", text)]
        return slugs[max(fitting, key=len)] if fitting else ""

    def _is_fixed(self, text: str, number: re.Match[str]) -> bool:
        """Tell whether the words around a number stand in a template as they stand here."""
        before = re.search(r"(?:\S+\s+){0,3}\S*$", text[: number.start()])
        after = re.match(r"\S*(?:\s+\S+){0,2}", text[number.end() :])
        assert before is not None
        assert after is not None
        return text[before.start() : number.end() + after.end()] in self.fixed_text

    def check_table(self, table: Table) -> Iterator[Finding]:
        """Yield what became of each number of a table, and of each wrong name."""
        checked = report_tables.check(self.run, self.condition_of(table), table)
        for row, right in zip(table.rows, checked, strict=True):
            for column, cell in enumerate(row):
                # a wrong name counts too: no number beside it need be wrong
                if not NUMBER.search(cell) and right[column] is not False:
                    continue
                verdict: Verdict = "not recomputed"
                if right[column] is not None:
                    verdict = "agrees" if right[column] else "differs"
                elif len(cell.split()) > _FEW_WORDS and cell in self.fixed_text:
                    verdict = "fixed"
                yield Finding(
                    verdict, table.section, cell, f"{table.id}: {' | '.join(row)}", "", column
                )


def with_sentence(part: Sentence, text: str) -> Sentence:
    """Return the same sentence with another text."""
    return replace(part, text=text)
