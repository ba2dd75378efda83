"""The chapter on simulated counts, and what its macros say in every branch."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from golden.compare import GOLDEN, golden_text
from golden.sentences import branches, chapter, sentences
from simulated_tables import ASSUMED, CACHES, Truth, beside, facts_of, walks

from copycost.config.simulated import FIGURES
from copycost.report import simulated_tables
from copycost.report.markdown import pipe_table
from copycost.studies.simulated.savings import copy_of
from copycost.studies.simulated.walks import no_walks

TEXTS = GOLDEN / "simulated"
NO_QEMU = ("skipped", "the command qemu-system-x86_64 was not found", "install qemu-system-x86")
NOTHING = Truth(sizes=(), lost=[NO_QEMU])
ALIKE = Truth(user=0.0, kernel=0.0, working_sets=("hot",), variants=("plain",))
WORSE = Truth(user=0.0, deferred=3.0, working_sets=("hot",), variants=("plain",))
PREFETCHED = {"guest": {"kernel": "6.1", "qemu": "8.2.2"}, "assumed": ASSUMED,
              "zeroes_pages": False, "repeats_bytes": True,
              "caches": CACHES | {"prefetcher": "next_line"}}  # fmt: skip
GUESSED = {"ways": ["l1d", "l2"], "sizes": ["llc"]}

Facts = Mapping[str, Any]
Of = Callable[[Mapping[str, Any]], tuple[object, ...]]


MACROS: dict[str, dict[str, tuple[object, ...]]] = {
    "verdict": {
        "falls": (facts_of(Truth())["verdict"],),
        "some_fall": ({"n": 8, "n_falling": 5, "level": "l2", "n_level": 4},),
        "same": (facts_of(ALIKE)["verdict"],),
        "nothing": (facts_of(NOTHING)["verdict"],),
    },
    "machine": {
        "plain": (facts_of(Truth())["machine"],),
        "prefetched": (PREFETCHED,),
        "guessed": (PREFETCHED | {"assumed": GUESSED},),
    },
    "trust": {
        "right": (walks(21),),
        "wrong": (walks(4000),),
        "none": (no_walks("the guest did not end within 60 s"),),
    },
    "not_counted": {
        "no_qemu": (facts_of(NOTHING),),
        "no_remedy": ({"losses": [{"reason": "it is off", "remedy": None}]},),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", MACROS)
def test_each_branch_says_the_golden_sentences(name: str) -> None:
    text = branches(
        {
            branch: sentences("simulated_words", name, *arguments)
            for branch, arguments in MACROS[name].items()
        }
    )
    assert text == golden_text(TEXTS / f"{name}.md", text)


def test_the_whole_chapter_is_the_golden_one() -> None:
    facts = facts_of(Truth(lost=[NO_QEMU])) | {"beside": beside(Truth()), "walks": walks(21)}
    text = chapter("simulated", facts, list(FIGURES), "simulated_details")
    assert text == golden_text(TEXTS / "chapter.md", text)


def saving(
    most: Mapping[str, object] | None,
    *functions: tuple[str, float],
    tried: Mapping[str, int] | None = None,
) -> Facts:
    """Return what a way to send saves, with the functions that carry it."""
    rows = [
        {
            "mode": "kernel" if name else "user",
            "function": name,
            "saved": saved,
        }
        for name, saved in functions
    ]
    verdict = "same" if most is None else "rises" if most["saved"] < 0 else "falls"
    return {
        "implementation": "zero_copy", "verdict": verdict, "most": most, "functions": rows,
        "tried": tried, "asks_for_none": True, "copied_share": None,
    }  # fmt: skip


def most(saved: float) -> dict[str, Any]:
    copies = {"user": None, "kernel": None}
    return {"level": "l1d", "msg_bytes": 49152, "before": 5.1, "saved": saved, "copies": copies}


def shown(table: tuple[list[Any], list[list[str]]]) -> list[str]:
    """Return the one row of a table, as one reads it."""
    columns, (row,) = table
    assert len(columns) == len(row)
    return [cell.replace("\N{NO-BREAK SPACE}", " ") for cell in row]


TRIED, NOT_TRIED = {"n": 3, "n_holding": 2}, {"n": 0, "n_holding": 0}


@pytest.mark.parametrize(
    ("given", "row"),
    [
        (
            saving(most(4.0), ("", 2.0), ("rep_movs_alternative", 1.98), tried=TRIED),
            [
                "L1d at 48 KiB", "4.00 of 5.10",
                "the application (2.00) and `rep_movs_alternative` (1.98)", "", "2 of 3",
            ],
        ),
        (
            saving(most(0.5), ("", 2.0), ("__memcpy", -1.5), tried=NOT_TRIED),
            [
                "L1d at 48 KiB", "0.50 of 5.10",
                "the application (2.00); more in `__memcpy` (1.50)", "", "not tried",
            ],
        ),
        (
            saving(most(0.5), tried=TRIED),
            ["L1d at 48 KiB", "0.50 of 5.10", "none has a tenth of it", "", "2 of 3"],
        ),
        (
            saving(most(-3.0), ("skb_copy_ubufs", -3.0), tried=TRIED),
            [
                "L1d at 48 KiB", "3.00 more than 5.10", "more in `skb_copy_ubufs` (3.00)", "",
                "2 of 3",
            ],
        ),
        (saving(None), ["none changes", "", "", "", ""]),
    ],
)  # fmt: skip
def test_a_row_tells_level_lines_functions_and_whether_it_was_tried(
    given: Facts, row: list[str]
) -> None:
    where = {"testbed": "sink", "working_set": "cold", "savings": [given]}
    found = shown(simulated_tables.savings([where]))
    assert found == ["`sink`, cold", "`zero_copy`, copies not told", *row]


def why(**copies: Facts | None) -> str:
    """Return what the level did not hold where these copies are saved."""
    given = most(4.0) | {"copies": {"user": None, "kernel": None} | copies}
    where = {"testbed": "sink", "working_set": "hot", "savings": [saving(given, tried=TRIED)]}
    return shown(simulated_tables.savings([where]))[-2]


def test_reasons_are_told_of_the_copy_that_is_saved() -> None:
    copy = copy_of(1.0, 1.0, 49152, 32768, from_memory=False)
    cold = copy_of(1.0, 0.0, 49152, 32768, from_memory=True)
    told = "both (over 32 KiB)"
    assert why(user=copy) == why(kernel=copy) == why(user=copy, kernel=copy) == told
    assert why(user=cold, kernel=copy) == f"application: source (memory); kernel: {told}"


def test_there_are_words_for_whatever_a_copy_misses() -> None:
    copies = [
        copy_of(source, target, msg_bytes, 32768, from_memory=cold)
        for msg_bytes, cold, source, target in itertools.product(
            (16384, 32768), (False, True), (0.0, 1.0), (0.0, 1.0)
        )
    ]
    assert all(why(user=copy) for copy in copies)
    assert len({(copy["misses"], tuple(copy["reasons"])) for copy in copies}) == 10


def widths(table: tuple[list[Any], list[list[str]]]) -> list[tuple[int, int]]:
    """Return the width of each column, and that of its longest word."""
    columns, rows = table
    text = pipe_table(columns, rows, "caption", "tbl-any")
    dashes = [len(part.strip()) - 1 for part in text.splitlines()[1].strip("|").split("|")]
    cells = zip([column.title for column in columns], *rows, strict=True)
    words = [max(len(word) for cell in of for word in cell.split(" ")) for of in cells]
    return list(zip(dashes, words, strict=True))


def test_no_word_of_the_tables_is_broken() -> None:
    functions = [("", 2.01), ("rep_movs_alternative", 1.97), ("copy_user_generic_string", -1.67)]
    copy = copy_of(1.0, 1.0, 262144, 1 << 30, from_memory=True)
    given = most(20.41) | {"level": "llc", "msg_bytes": 262144, "before": 77.57}
    given["copies"] = {"user": copy, "kernel": copy}
    of = saving(given, *functions, tried=NOT_TRIED)
    where = {"testbed": "loopback", "working_set": "cold", "savings": [of]}
    found = widths(simulated_tables.savings([where]))
    assert all(width > word for width, word in found)
    assert sum(width for width, _ in found) <= 100 + len(found)  # rounded, of what a page holds


def test_what_was_not_asked_for_has_no_chapter() -> None:
    text = chapter("simulated", facts_of(NOTHING, enabled="auto"), [], "simulated_details")
    assert text.strip() == ""


def test_what_was_asked_for_and_not_counted_has_its_reasons() -> None:
    text = chapter("simulated", facts_of(NOTHING), [])
    assert text == golden_text(TEXTS / "nothing_counted.md", text)
