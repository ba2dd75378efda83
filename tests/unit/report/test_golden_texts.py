"""What must hold of all golden texts: a sentence that is changed changes in few places."""

import re
from collections import Counter

from golden.compare import GOLDEN

MOST = 3
LONG = 40  # characters of what is a sentence rather than a cell of a table


def test_no_sentence_stands_in_many_golden_texts() -> None:
    files = Counter(
        sentence
        for path in GOLDEN.rglob("*.*")
        if path.suffix in (".md", ".txt")
        for sentence in set(re.split(r"(?<=\.) |\n", path.read_text(encoding="utf-8")))
        if len(sentence) >= LONG
    )
    assert len(files) > 100
    assert [sentence for sentence, n_files in files.items() if n_files > MOST] == []
