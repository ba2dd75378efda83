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
from copycost.studies.simulated.copies import copy_of
from copycost.studies.simulated.walks import no_walks

TEXTS = GOLDEN / "simulated"
NO_QEMU = ("skipped", "the command qemu-system-x86_64 was not found", "install qemu-system-x86")
NOTHING = Truth(sizes=(), lost=[NO_QEMU])
ALIKE = Truth(user=0.0, kernel=0.0, working_sets=("hot",), variants=("plain",))
WORSE = Truth(user=0.0, deferred=3.0, working_sets=("hot",), variants=("plain",))
SECOND = Truth(second=1.0, working_sets=("hot",), variants=("plain",))
PREFETCHED = {"guest": {"kernel": "6.1", "qemu": "8.2.2"}, "assumed": ASSUMED,
              "zeroes_pages": False, "repeats_bytes": True,
              "caches": CACHES | {"prefetcher": "next_line"}}  # fmt: skip
GUESSED = {"ways": ["l1d", "l2"], "sizes": ["llc"]}

Facts = Mapping[str, Any]
Of = Callable[[Mapping[str, Any]], tuple[object, ...]]


def level(**given: object) -> dict[str, object]:
    """Return what is known of the application's copy in one level."""
    empty: dict[str, object] = {
        name: []
        for name in (
            "source", "target", "neither", "beyond", "from_memory", "displaced", "found_beyond",
        )
    }  # fmt: skip
    return empty | {"level": "l1d", "size_bytes": 32768} | given


def payer(name: str) -> dict[str, object]:
    return {"implementation": "one_copy", "payer": name, "more_user": 0.5, "more_kernel": 1.0}


def paying(*names: str) -> dict[str, object]:
    return {"testbed": "sink", "rows": [payer(name) for name in names]}


def _of(facts: Mapping[str, Any], condition: int, saving: int) -> tuple[object, object]:
    """Return one way to send under one condition, and that."""
    where = facts["conditions"][condition]
    return where["savings"][saving], where


def _rising_too(facts: Mapping[str, Any]) -> tuple[object, object]:
    """Return the first way to send where misses rise at the smallest size."""
    saving, where = facts["conditions"][0]["savings"][0], facts["conditions"][0]
    return saving | {"most": saving["most"] | {"more_at": saving["sizes"][:1]}}, where


LEAST = 0.05
SIZES = [4096, 65536, 1048576]
MACROS: dict[str, dict[str, tuple[object, ...]]] = {
    "machine": {
        "plain": (facts_of(Truth()),),
        "prefetched": ({"machine": PREFETCHED},),
        "guessed": ({"machine": PREFETCHED | {"assumed": GUESSED}},),
    },
    "kind_of_counts": {"any": (facts_of(Truth()),)},
    "served": {"all": ([{"by": name, "lines": 0.5} for name in ("l2", "llc", "memory")],)},
    "saving": {
        "falls": (*_of(facts_of(Truth()), 0, 0), LEAST),
        "falls_in_the_kernel": (*_of(facts_of(Truth()), 2, 1), LEAST),
        "falls_most_in_l2": (*_of(facts_of(SECOND), 0, 0), LEAST),
        "falls_and_rises": (*_rising_too(facts_of(Truth())), LEAST),
        "falls_in_memory_too": (*_of(facts_of(Truth()), 3, 1), LEAST),
        "rises": (*_of(facts_of(WORSE), 0, 1), LEAST),
        "same": (*_of(facts_of(ALIKE), 0, 0), LEAST),
    },
    "how_to_read": {"any": ()},
    "price": {
        "one_size": ({"testbed": "sink", "working_set": "hot", "prices": [
            {"msg_bytes": 4096, "ratio": 2.1}]},),
        "sizes": ({"testbed": "sink", "working_set": "hot", "prices": [
            {"msg_bytes": 4096, "ratio": 2.1}, {"msg_bytes": 1048576, "ratio": 1.25}]},),
    },
    "payers": {
        "some": (paying("user", "kernel", "both", "nobody"),),
        "nobody": (paying("nobody"),),
    },
    "copied_after_all": {
        name: ({"testbed": "sink", "implementation": "zero_copy", "copied_share": share},)
        for name, share in {"not_told": None, "all": 1.0, "nothing": 0.0, "some": 0.25}.items()
    },
    "why": {
        "both_found": (level(neither=SIZES), SIZES),
        "neither_found": (level(source=SIZES[1:], target=SIZES[1:], beyond=SIZES[1:]), SIZES),
        "apart": (level(source=SIZES, target=SIZES[2:], beyond=SIZES[2:], from_memory=SIZES),
                  SIZES),
        "source": (level(source=SIZES, from_memory=SIZES), SIZES),
        "target": (level(target=SIZES[:1], displaced=SIZES[:1], found_beyond=SIZES[2:]), SIZES),
    },
    "payer": {name: (payer(name), LEAST) for name in ("nobody", "user", "kernel", "both")},
    "surviving": {
        "all": (facts_of(Truth())["sensitivity"],),
        "some": (facts_of(Truth())["sensitivity"] | {"n_surviving": 3},),
        "turned": (facts_of(Truth())["sensitivity"] | {"n_keeping_level": 5, "n_surviving": 3},),
        "not_reported": (facts_of(Truth(second=1.0, testbeds=("loopback",)))["sensitivity"],),
        "partly_reported": (facts_of(Truth(second=1.0))["sensitivity"],),
        "nothing_changed": (facts_of(Truth(variants=("plain",)))["sensitivity"],),
    },
    "turning": {"one": ({"testbed": "sink", "working_set": "hot", "implementation": "zero_copy",
                         "msg_bytes": 49152, "turning": ["caches of half the size",
                                                         "another kernel"]},)},
    "walked": {
        "right": (walks(21),),
        "wrong": (walks(4000),),
        "none": (no_walks("the guest did not end within 60 s"),),
    },
    "beside_counted": {"counted": ([{"ratio": 0.9}, {"ratio": 1.25}],), "not": ([],)},
    "beside_calls": {
        "all": ({"n_calls_agree": 2, "calls": [{"agree": True}, {"agree": True}]},),
        "some": ({"n_calls_agree": 1, "calls": [
            {"agree": True},
            {"agree": False, "testbed": "loopback", "working_set": "hot", "msg_bytes": 4096,
             "implementation": "zero_copy", "simulated": 1.06, "measured": 1.11},
        ]},),
    },
    "source": {
        "counted": (True, None),
        "both": (True, {"n_counted": 6}),
        "simulated": (False, {"n_counted": 6}),
        "not_at_hand": (False, {"n_counted": 0}),
        "neither": (False, None),
        "declined": (False, None, "it would take about 70 s (shorten its lists)"),
    },
    "reasons": {"some": ({"n_falling": 2},), "none": ({"n_falling": 0},)},
    "answer": {
        "counted": (facts_of(Truth(testbeds=("sink",), variants=("plain",))),),
        "worse": (facts_of(WORSE),),
        "alike": (facts_of(ALIKE),),
        "no_qemu": (facts_of(NOTHING),),
        "no_remedy": ({"n_counted": 0, "losses": [{"reason": "it is off", "remedy": None}]},),
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
            "carries": "fewer" if saved > 0 else "more",
        }
        for name, saved in functions
    ]
    verdict = "same" if most is None else "rises" if most["saved"] < 0 else "falls"
    return {
        "implementation": "zero_copy", "verdict": verdict, "most": most, "functions": rows,
        "tried": tried,
    }  # fmt: skip


def most(saved: float) -> dict[str, Any]:
    return {"level": "l1d", "msg_bytes": 49152, "before": 5.1, "saved": saved}


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
                "the application (2.00) and `rep_movs_alternative` (1.98)", "2 of 3",
            ],
        ),
        (
            saving(most(0.5), ("", 2.0), ("__memcpy", -1.5), tried=NOT_TRIED),
            [
                "L1d at 48 KiB", "0.50 of 5.10",
                "the application (2.00); more in `__memcpy` (1.50)", "not tried",
            ],
        ),
        (
            saving(most(0.5), tried=TRIED),
            ["L1d at 48 KiB", "0.50 of 5.10", "none has a tenth of it", "2 of 3"],
        ),
        (
            saving(most(-3.0), ("skb_copy_ubufs", -3.0), tried=TRIED),
            ["L1d at 48 KiB", "3.00 more than 5.10", "more in `skb_copy_ubufs` (3.00)", "2 of 3"],
        ),
        (saving(None), ["none changes", "---", "---", "---"]),
    ],
)  # fmt: skip
def test_a_row_tells_level_lines_functions_and_whether_it_was_tried(
    given: Facts, row: list[str]
) -> None:
    found = shown(simulated_tables.savings([{"working_set": "cold", "savings": [given]}]))
    assert found == ["cold", "`zero_copy`", *row]


def why(**copies: Facts | None) -> list[str]:
    """Return the row of reasons where these copies are saved."""
    given = most(4.0) | {"copies": {"user": None, "kernel": None} | copies}
    where = {"testbed": "sink", "working_set": "hot", "savings": [saving(given)]}
    return shown(simulated_tables.reasons([where]))


def test_reasons_are_told_of_the_copy_that_is_saved() -> None:
    copy = copy_of(1.0, 1.0, 49152, 32768, from_memory=False)
    start, told = ["`sink`, hot", "`zero_copy`", "L1d at 48 KiB"], "both together exceed 32 KiB"
    assert why(user=copy) == [*start, told, "---"]
    assert why(kernel=copy) == [*start, "---", told]


def test_what_rises_or_stays_has_no_reasons() -> None:
    savings = [saving(most(-3.0)), saving(None)]
    where = {"testbed": "sink", "working_set": "hot", "savings": savings}
    assert simulated_tables.reasons([where])[1] == []


def test_there_are_words_for_whatever_a_copy_misses() -> None:
    copies = [
        copy_of(source, target, msg_bytes, 32768, from_memory=cold)
        for msg_bytes, cold, source, target in itertools.product(
            (16384, 32768), (False, True), (0.0, 1.0), (0.0, 1.0)
        )
    ]
    assert all(why(user=copy)[-2] for copy in copies)
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
    for table in (simulated_tables.savings([where]), simulated_tables.reasons([where])):
        found = widths(table)
        assert all(width > word for width, word in found)
        assert sum(width for width, _ in found) <= 100 + len(found)  # rounded, of what a page holds


def test_what_was_not_asked_for_has_no_chapter() -> None:
    text = chapter("simulated", facts_of(NOTHING, enabled="auto"), [], "simulated_details")
    assert text.strip() == ""


def test_what_was_asked_for_and_not_counted_has_its_reasons() -> None:
    text = chapter("simulated", facts_of(NOTHING), [])
    assert text == golden_text(TEXTS / "nothing_counted.md", text)
