"""From records of simulated counts to tables, facts and the chapter, against a known truth."""

from typing import Any

import pytest
from golden.compare import GOLDEN, golden_text
from golden.sentences import branches, chapter, sentences
from simulated_tables import CATEGORIES, Truth, beside, facts_of, record_of, tables_of, walks

from copycost.config.simulated import FIGURES
from copycost.records.table import make_table
from copycost.studies.simulated.facts import copied_shares, level_of
from copycost.studies.simulated.table import SIMULATED, functions_of, rows_of
from copycost.studies.simulated.walks import WALKS, walk_facts

pytestmark = pytest.mark.slow

FALLS = {"l1d": 2.0, "l2": 0.0, "llc": 0.0}


def test_functions_of_one_name_are_one() -> None:
    counted = record_of(Truth(), "sink", "one_copy", 4096, "hot", "plain")["counted"]
    counted["functions"]["sender"].append(counted["functions"]["sender"][2])
    twice = functions_of(counted).loc["sender", "kernel", "__x64_sys_sendmsg"]
    assert twice["calls"] == 2 * 1024


def test_each_side_is_told_by_what_it_has_sent_or_received_itself() -> None:
    index = ["testbed", "implementation", "msg_bytes", "working_set", "side"]
    table, functions = (
        of.set_index(index).sort_index() for of in tables_of(Truth(variants=("plain",)))
    )
    cell = table.loc["loopback", "two_copy", 49152, "hot"]
    assert cell.loc["receiver", "simulated_bytes"] == 85 * 49152 * 5 // 4
    assert cell.loc["receiver", "simulated_messages"] == 85 * 5 / 4
    name = "simulated_l1d_misses_kernel_per_byte"
    assert cell.loc["receiver", name] * 64 == pytest.approx(2.0)
    # without other threads
    assert cell.loc["both", name] == cell.loc["sender", name] + cell.loc["receiver", name]
    rows = functions.loc["loopback", "two_copy", 49152, "hot", "receiver"].set_index("function")
    copying = rows.loc["rep_movs_alternative", "simulated_l1d_misses_per_byte"]
    assert copying * 64 == pytest.approx(2.0)
    nobody = table.loc["sink", "two_copy", 49152, "hot", "receiver"]
    assert (nobody["simulated_bytes"], nobody[name]) == (85 * 49152, 0.0)


@pytest.mark.parametrize(
    ("sends", "share"),
    [
        ({}, 1.0),
        ({"copied": 0}, 0.0),
        ({"completed": 4, "copied": 1}, 0.25),
        ({"copied": None, "copied_unknown": "an old kernel"}, None),
        ({"completed": 0, "copied": 0}, None),
    ],
)
def test_what_was_asked_to_be_sent_without_a_copy_is_told_from_completions(
    sends: dict[str, Any], share: float | None
) -> None:
    records = [
        record_of(Truth(), "loopback", name, 4096, "hot", "plain")
        for name in ("two_copy", "zero_copy")
    ]
    records[1]["sender"]["zero_copy"] |= sends
    rows = [row for record in records for row in rows_of(record, CATEGORIES)[0]]
    found = copied_shares(make_table(rows, SIMULATED))
    assert found == {("loopback", "zero_copy"): share}


@pytest.mark.parametrize(
    ("saved", "level"),
    [
        (FALLS, "l1d"),
        (FALLS | {"l1d": 1.99, "l2": 2.0}, "l1d"),
        (FALLS | {"l2": 2.1, "llc": 2.1}, "l2"),
        (FALLS | {"l1d": 0.0}, None),
        (FALLS | {"l1d": 0.02, "l2": 0.06}, "l2"),
        (FALLS | {"l1d": -1.0, "llc": 0.2}, "llc"),
    ],
)
def test_the_first_of_the_levels_that_fall_most_is_named(
    saved: dict[str, float], level: str | None
) -> None:
    assert level_of(saved) == level


def test_where_only_the_kernels_copy_is_saved_the_applications_explains_nothing() -> None:
    (hot,) = facts_of(Truth(testbeds=("sink",), working_sets=("hot",), user=0.0))["conditions"]
    beyond = {"misses": "both", "reasons": ["beyond"], "size_bytes": 32768}
    assert hot["savings"][1]["most"]["copies"] == {"user": None, "kernel": beyond}


def test_a_conclusion_is_tried_in_its_very_cell_or_not_tried() -> None:
    def tried(**changes: Any) -> dict[str, tuple[int, int]]:  # noqa: ANN401
        conditions = facts_of(Truth(working_sets=("hot",), **changes))["conditions"]
        found = {one["testbed"]: one["savings"][0]["tried"] for one in conditions}
        return {testbed: (one["n"], one["n_holding"]) for testbed, one in found.items()}

    assert tried() == {"loopback": (2, 2), "sink": (2, 2)}
    # on loopback, most is then saved at 1 MiB, and only 48 KiB was counted again
    assert tried(second=1.0) == {"loopback": (0, 0), "sink": (2, 2)}
    assert tried(testbeds=("sink",), changed=(("half_caches", 0.0),)) == {"sink": (2, 1)}


def test_where_nothing_falls_the_largest_rise_is_told() -> None:
    truth = Truth(testbeds=("loopback",), working_sets=("hot",), user=0.0, deferred=3.0)
    (hot,) = facts_of(truth)["conditions"]
    one, zero = hot["savings"]
    assert (one["verdict"], one["most"]) == ("same", None)
    assert (zero["verdict"], zero["most"]["level"], zero["most"]["msg_bytes"]) == (
        "rises", "l1d", 49152,
    )  # fmt: skip


def test_counted_misses_and_system_calls_stand_beside_simulated_ones() -> None:
    found = beside(Truth(variants=("plain",)))
    # loads are half of all: of the application's copy, the kernel's, and a page that is set to 0
    ratio = pytest.approx(2.55 / 4.0, abs=0.01)
    assert found["misses"] == [{"level": "l1d", "n": 1, "low": ratio, "high": ratio}]
    assert (found["n_calls_agree"], found["n_calls"]) == (1, 1)
    more = beside(Truth(variants=("plain",)), sender_syscalls_per_message=1.5)
    assert more["n_calls_agree"] == 0


def test_walks_are_held_against_what_is_known() -> None:
    right, wrong = walks(21), walks(4000)
    assert (right["n"], right["n_right"], right["worst_lines"]) == (len(WALKS), len(WALKS), 21)
    assert (wrong["n_right"], wrong["worst_lines"]) == (len(WALKS) - 1, 4000)
    # what is stored for what is loaded is wrong, too
    assert walks(-100, stores=100)["n_right"] == len(WALKS) - 1


TEXTS = GOLDEN / "simulated"
NO_QEMU = ("skipped", "the command qemu-system-x86_64 was not found", "install qemu-system-x86")
NOTHING = Truth(sizes=(), lost=(NO_QEMU,))
ALIKE = Truth(user=0.0, kernel=0.0, working_sets=("hot",), variants=("plain",))


def test_each_branch_says_the_golden_sentences() -> None:
    verdicts = {
        "falls": facts_of(Truth())["verdict"],
        "some_fall": {"n": 8, "n_falling": 5, "level": "l2", "n_level": 4},
        "same": facts_of(ALIKE)["verdict"],
        "nothing": facts_of(NOTHING)["verdict"],
    }
    texts = {name: sentences("simulated_words", "verdict", one) for name, one in verdicts.items()}
    assert branches(texts) == golden_text(TEXTS / "verdict.md", branches(texts))


def test_a_model_that_counts_wrong_is_said() -> None:
    wrong = facts_of(Truth()) | {"walks": walks(4000)}
    assert "do not rely on any count of this run" in chapter("simulated", wrong, [])
    unchecked = facts_of(Truth()) | {"walks": walk_facts([], "the guest did not end within 60 s")}
    assert "so the model is unchecked: the guest did not end" in chapter("simulated", unchecked, [])


def test_the_whole_chapter_is_the_golden_one() -> None:
    facts = facts_of(Truth(lost=(NO_QEMU,))) | {"beside": beside(Truth()), "walks": walks(21)}
    text = chapter("simulated", facts, list(FIGURES), "simulated_details")
    assert text == golden_text(TEXTS / "chapter.md", text)


def test_what_was_not_asked_for_has_no_chapter() -> None:
    text = chapter("simulated", facts_of(NOTHING, enabled="auto"), [], "simulated_details")
    assert text.strip() == ""


def test_what_was_asked_for_and_not_counted_has_its_reasons() -> None:
    text = chapter("simulated", facts_of(NOTHING), [])
    assert text == golden_text(TEXTS / "nothing_counted.md", text)
