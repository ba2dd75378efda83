"""Requested zero-copy never reads as zero-copy done."""

import pytest

from copycost.report.labelled import label_sentences

LABELS = {"zero_copy": "zero-copy requested, 100 % copied", "one_copy": None}


@pytest.mark.parametrize(
    ("text", "labelled"),
    [
        (
            "`zero_copy` was slower. It was dearer.",
            "`zero_copy` (zero-copy requested, 100 % copied) was slower. It was dearer.",
        ),
        (
            "First, `zero_copy`. Then `zero_copy` and `zero_copy`.",
            "First, `zero_copy` (zero-copy requested, 100 % copied). "
            "Then `zero_copy` (zero-copy requested, 100 % copied) and `zero_copy`.",
        ),
        (
            "It took 2 times for `zero_copy` (95 % interval 1 to 3).",
            "It took 2 times for `zero_copy` (zero-copy requested, 100 % copied; "
            "95 % interval 1 to 3).",
        ),
        (
            "| `zero_copy` | 1.5 for `zero_copy` |",
            "| `zero_copy` (zero-copy requested, 100 % copied) | 1.5 for `zero_copy` |",
        ),
        ("## On `zero_copy`", "## On `zero_copy`"),
        ("`one_copy` and `uring_zero_copy`.", "`one_copy` and `uring_zero_copy`."),
        ("It took 0.5 ns, as `one_copy`.", "It took 0.5 ns, as `one_copy`."),
    ],
)
def test_first_mention_in_each_sentence_bears_the_label(text: str, labelled: str) -> None:
    assert label_sentences(text, LABELS) == labelled


def test_each_of_two_that_turned_out_alike_bears_the_label() -> None:
    labels = {"zero_copy": "copied", "uring_zero_copy": "copied"}
    labelled = label_sentences("`zero_copy` beats `uring_zero_copy`.", labels)
    assert labelled == "`zero_copy` (copied) beats `uring_zero_copy` (copied)."


def test_what_bears_it_already_is_left_alone() -> None:
    once = label_sentences("`zero_copy` was slower.", LABELS)
    assert label_sentences(once, LABELS) == once


def test_without_labels_nothing_changes() -> None:
    assert label_sentences("`zero_copy`", {"zero_copy": None}) == "`zero_copy`"
