"""Says in every sentence what zero-copy sends turned out to be."""

import re
from collections.abc import Mapping

_SENTENCE = re.compile(r"(?<=[.?!])(\s+)(?=[A-Z`*@(])")


def label_sentences(text: str, labels: Mapping[str, str | None]) -> str:
    """Return a text in which implementations with a label bear it.

    The first mention of one in each sentence, table row and item gets it in parentheses, or at the
    head of the parentheses that follow there: "`zero_copy` (zero-copy requested, 100 % copied) was
    slower". So no sentence about requested zero-copy can be read as one about zero-copy done, and
    no template can forget to say so.

    Parameters
    ----------
    text
        Markdown; a sentence ends within its line.
    labels
        By implementation, what it is called; None where its name says what happened.
    """
    known = {name: label for name, label in labels.items() if label is not None}
    if not known:
        return text
    return "\n".join(_label_line(line, known) for line in text.split("\n"))


def _label_line(line: str, labels: Mapping[str, str]) -> str:
    if line.startswith("#"):
        return line
    if line.startswith("|"):
        return _label_once(line, labels)
    parts = _SENTENCE.split(line)
    # Every second part is the space between two sentences.
    return "".join(
        part if index % 2 else _label_once(part, labels) for index, part in enumerate(parts)
    )


def _label_once(sentence: str, labels: Mapping[str, str]) -> str:
    given = sentence
    for name, label in labels.items():
        code = f"`{name}`"
        before, found, after = sentence.partition(code)
        if not found or label in given:
            continue
        if after.startswith(" ("):
            sentence = f"{before}{code} ({label}; {after[2:]}"
        else:
            sentence = f"{before}{code} ({label}){after}"
    return sentence
