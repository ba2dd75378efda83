"""What must hold of all golden texts: they have every sentence, and each in few places."""

import re
from collections import Counter
from pathlib import Path

from golden.compare import GOLDEN
from golden.marks import Marks

from copycost.report.write import make_environment

TEMPLATES = Path(__file__).parents[3] / "report"

MOST = 3
LONG = 40  # characters of what is a sentence rather than a cell of a table
A_FEW_WORDS = 3


def golden_texts() -> list[str]:
    paths = [path for path in GOLDEN.rglob("*.*") if path.suffix in (".md", ".txt")]
    return [path.read_text(encoding="utf-8") for path in paths]


def test_no_sentence_stands_in_many_golden_texts() -> None:
    files = Counter(
        sentence
        for text in golden_texts()
        for sentence in set(re.split(r"(?<=\.) |\n", text))
        if len(sentence) >= LONG
    )
    assert len(files) > 100
    assert [sentence for sentence, n_files in files.items() if n_files > MOST] == []


def test_golden_texts_have_the_words_of_every_macro() -> None:
    environment = make_environment(TEMPLATES)
    environment.add_extension(Marks)
    for path in (TEMPLATES / "_macros").glob("*.j2"):
        environment.parse(path.read_text(encoding="utf-8"), path.name)
    marks = environment.extensions[Marks.identifier]
    assert isinstance(marks, Marks)
    golden = " ".join(" ".join(golden_texts()).split())
    missing = [
        f"{template}, line {line}: {words}"
        for template, line, words in marks.pieces
        if len(words.split()) >= A_FEW_WORDS and words not in golden
    ]
    assert missing == []
