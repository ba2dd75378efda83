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
from copycost.studies.simulated.copies import copy_at
from copycost.studies.simulated.values import Place, Values
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
        "rises": (*_of(facts_of(WORSE), 0, 1), LEAST),
        "same": (*_of(facts_of(ALIKE), 0, 0), LEAST),
    },
    "how_to_read": {"any": ()},
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
        "nothing_changed": (facts_of(Truth(variants=("plain",)))["sensitivity"],),
    },
    "failing": {"one": ({"testbed": "sink", "working_set": "hot", "implementation": "zero_copy",
                         "msg_bytes": 49152, "turning": ["another kernel"],
                         "failing": ["caches of half the size", "another kernel"]},)},
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


def saving(most: Mapping[str, object] | None, *functions: tuple[str, float]) -> Facts:
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
    return {"implementation": "zero_copy", "verdict": verdict, "most": most, "functions": rows}


def most(saved: float, missed: str, *reasons: str) -> Facts:
    copy = {"misses": missed, "reasons": reasons, "size_bytes": 32768}
    return {
        "level": "l1d", "msg_bytes": 49152, "before": 5.1, "saved": saved, "own_copy": copy,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "row"),
    [
        (
            saving(most(4.0, "both", "beyond"), ("", 2.0), ("rep_movs_alternative", 1.98)),
            [
                "L1d at 48 KiB", "4.00 of 5.10",
                "the application (2.00) and `rep_movs_alternative` (1.98)",
                "both together exceed 32 KiB",
            ],
        ),
        (
            saving(most(0.5, "target", "displaced"), ("", 2.0), ("__memcpy", -1.5)),
            [
                "L1d at 48 KiB", "0.50 of 5.10",
                "the application (2.00); more in `__memcpy` (1.50)",
                "target displaced, though both would fit into 32 KiB",
            ],
        ),
        (
            saving(most(0.5, "neither")),
            ["L1d at 48 KiB", "0.50 of 5.10", "none has a tenth of it",
             "it finds both"],
        ),
        (
            saving(most(-3.0, "neither"), ("skb_copy_ubufs", -3.0)),
            ["L1d at 48 KiB", "3.00 more than 5.10", "more in `skb_copy_ubufs` (3.00)", "---"],
        ),
        (saving(None), ["none changes", "---", "---", "---"]),
    ],
)  # fmt: skip
def test_a_row_tells_level_lines_functions_and_why(given: Facts, row: list[str]) -> None:
    columns, rows = simulated_tables.savings([{"working_set": "cold", "savings": [given]}])
    assert len(columns) == len(rows[0])
    plain = [cell.replace("\N{NO-BREAK SPACE}", " ") for cell in rows[0]]
    assert plain == ["cold", "`zero_copy`", *row]


def test_there_are_words_for_whatever_a_copy_misses() -> None:
    kinds = {
        (missed["misses"], tuple(missed["reasons"]))
        for bytes_, cold, loads, stores in itertools.product(
            (16384, 32768), ("hot", "cold"), (0.0, 1.0), (0.0, 1.0)
        )
        if (missed := copy_of(bytes_, cold, loads, stores))
    }
    for misses, reasons in kinds:
        _, (row,) = simulated_tables.savings(
            [{"working_set": "hot", "savings": [saving(most(1.0, misses, *reasons))]}]
        )
        assert row[-1]
    assert len(kinds) == 10


def copy_of(msg_bytes: int, working_set: str, source: float, target: float) -> Facts:
    """Return what is said of a copy whose loads and stores miss so many times per line."""
    place = Place("sink", working_set, "plain")
    none = {"l1d": {"user": 0.0, "kernel": 0.0}}
    loads = {"l1d": {"user": source, "kernel": 0.0}}
    both = {"l1d": {"user": source + target, "kernel": 0.0}}
    names = ("two_copy", "one_copy")
    keys = [(name, msg_bytes) for name in names]
    values = Values(
        place,
        names,
        (msg_bytes,),
        dict(zip(keys, (both, none), strict=True)),
        dict(zip(keys, (loads, none), strict=True)),
    )
    return copy_at(values, "one_copy", msg_bytes, "l1d", 32768)


def test_what_was_not_asked_for_has_no_chapter() -> None:
    text = chapter("simulated", facts_of(NOTHING, enabled="auto"), [], "simulated_details")
    assert text.strip() == ""


def test_what_was_asked_for_and_not_counted_has_its_reasons() -> None:
    text = chapter("simulated", facts_of(NOTHING), [])
    assert text == golden_text(TEXTS / "nothing_counted.md", text)
