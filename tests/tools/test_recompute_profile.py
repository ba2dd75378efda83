import gzip
import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from unit.studies.profile.made import (
    PAIR,
    PAIR_CPU_S,
    PAIR_ZERO,
    Cell,
    facts_of,
    repetitions_of,
)

from copycost.report.virtual_tables import work
from copycost.studies.profile.tables import Repetition as Measured
from copycost.wording.percent import NBSP
from tools.recompute import copies
from tools.recompute.account import account, together
from tools.recompute.document import Table
from tools.recompute.functions import kind_of, plain
from tools.recompute.profile import Profile, Repetition, Window, slug_of
from tools.recompute.profile_tables import difference_row, outside_work, work_row
from tools.recompute.slots import agrees, percent_agrees

COPYING = "sender;__send;tcp_sendmsg_[k];_copy_from_iter_[k]"
DEFERRED = "sender;__send;tcp_sendmsg_[k];skb_copy_ubufs_[k];memcpy_[k]"
SENDING = "sender;__send;tcp_sendmsg_[k];_raw_spin_lock_[k]"
CONFIG = {"statistics": {"confidence": 0.95}, "profile": {}}


@pytest.mark.parametrize(
    ("stack", "kind"),
    [
        (COPYING, "copy in the kernel"),
        (DEFERRED, "deferred copy"),
        (SENDING, "protocol"),
        ("sender;main;__memmove_avx_unaligned", "application's copy"),
        ("sender;__send;nobody_knows_it_[k]", "not categorised"),
        ("sender_qemu;virtual CPUs_[e];cpu_exec_[e]", "emulator"),
        ("sender_qemu;main loop and I/O_[h];__memmove_avx_unaligned_[h]", "hypervisor's copy"),
    ],
)
def test_a_sample_is_of_its_innermost_function_that_works_for_itself(stack: str, kind: str) -> None:
    assert kind_of(tuple(stack.split(";")[1:])) == kind


def test_marks_of_a_frame_are_no_part_of_its_name() -> None:
    marked = ("a_[k]", "a_[i]", "a_[i]_[k]", "a_[e]", "a_[h]", "a")
    assert [plain(frame) for frame in marked] == ["a"] * 6


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    """Three rounds of 1 MiB: copying (2 to 4 ms) in one cell, a deferred copy in the other."""
    for rep in (1, 2, 3):
        _write(tmp_path, "two_copy", rep, {COPYING: (1 + rep) * 1e6, SENDING: 1e6})
        _write(tmp_path, "zero_copy", rep, {DEFERRED: 5e6, SENDING: 1e6})
    return Profile(tmp_path, CONFIG)


def _write(
    folder: Path,
    implementation: str,
    rep: int,
    stacks: dict[str, float],
    guests: Mapping[str, float] | None = None,
) -> None:
    """Write a repetition; `guests` are the CPU times [ns] of the sides' hypervisors."""
    window = {"start_ns": 0, "end_ns": 1_000_000_000}
    received = {"in_window": {"bytes": 1 << 20}, "process": {"cpu_ns": 0}}
    sender = {**received, "window": window, "zero_copy": None}
    used = sum(ns for stack, ns in stacks.items() if stack.startswith("sender;"))
    counted = {"events": {"task_clock_ns": {"value": used}}}
    hypervisor = {"guests": [_guest(side, used) for side, used in (guests or {}).items()]}
    record = {
        "status": "measured",
        "cell": {"testbed": "vm_pair" if guests else "sink", "working_set": "hot",
                 "receiver": "recv", "placement": "apart",
                 "implementation": implementation, "msg_bytes": 4096, "n_threads": 1, "rep": rep},
        "driver": {"sender": sender, "receiver": None, "sink": None},
        "observed": {
            "perf_stat": {"sender": counted, "receiver": counted if guests else None},
            "sampling": {},
            **({"hypervisor": hypervisor} if guests else {}),
        },
        "undisturbed": None,
    }  # fmt: skip
    path = folder / f"raw/profile/{implementation}/rep={rep}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record), encoding="utf-8")
    lines = "".join(f"{stack} {weight:.0f}\n" for stack, weight in stacks.items())
    path.with_name(f"rep={rep}.folded.gz").write_bytes(gzip.compress(lines.encode()))


def _guest(side: str, cpu_ns: float) -> dict[str, object]:
    idle = {"cpu_ns": 0, "guest_ns": 0}
    return {
        "sides": [side],
        "inside": {"busy_ns": 1e9, "window_ns": 1_000_000_000},
        "window_ns": 1_000_000_000,
        "threads": {"vcpu": idle, "io": {"cpu_ns": cpu_ns, "guest_ns": 0}},
    }


def test_an_account_has_what_grew_what_shrank_and_what_is_open(profile: Profile) -> None:
    made = account(profile, profile.rounds("sink-two-copy-4096-1-to-zero-copy"))
    assert list(made.grew) == ["deferred copy"]
    # it is gone, however much it scattered where it was
    assert list(made.shrank) == ["copy in the kernel (sender)"]
    assert list(made.open) == ["protocol"]
    assert made.grew["deferred copy"].after == pytest.approx(5e6 / 1024)
    parts = [*made.grew.values(), *made.shrank.values(), *made.open.values(), made.unnamed]
    assert together(parts).change.value == pytest.approx(made.total.change.value)
    assert math.isnan(made.unsampled.value)


def test_a_round_is_a_repetition_and_the_reference_beside_it(profile: Profile) -> None:
    first, second = (profile.cell(f"sink-{name}-4096-1") for name in ("two-copy", "zero-copy"))
    paired = [replace(one, reference=its) for one, its in zip(second, first[::-1], strict=True)]
    profile.repetitions = [*first, *paired]
    found = profile.rounds("sink-two-copy-4096-1-to-zero-copy")
    assert found == list(zip(first[::-1], paired, strict=True))


TAP = "main loop and I/O_[h];do_writev_[k];tun_get_user_[k]"


def test_copies_through_guests_are_counted_in_their_order(tmp_path: Path) -> None:
    stacks = {
        "sender;main;[unknown]": 20e6,
        COPYING: 20e6,
        f"sender_qemu;{TAP};skb_copy_datagram_from_iter_[k];copy_page_from_iter_[k]": 10e6,
        f"sender_qemu;{TAP};br_handle_frame_[k]": 30e6,
        "receiver_qemu;main loop and I/O_[h];__memmove_avx_unaligned_[h]": 5e6,
        "receiver_qemu;main loop and I/O_[h];tun_do_read_[k];skb_copy_datagram_iter_[k]": 5e6,
        "sender_guest;handle_softirqs_[k];tcp_v4_rcv_[k]": 1e6,
    }
    _write(tmp_path, "two_copy", 1, stacks, guests={"sender": 40e6, "receiver": 10e6})
    cell = Profile(tmp_path, CONFIG).cell("vm-pair-two-copy-4096-1")
    assert copies.counted(cell) == [
        ("copy_in", ""),
        ("tap_copy_in", "sender_qemu"),
        ("tap_copy_out", "receiver_qemu"),
        ("hypervisor_copy", "receiver_qemu"),
    ]
    place = ("tap_copy_in", "sender_qemu")
    function, cost = copies.told(cell, place)
    assert function == "skb_copy_datagram_from_iter"
    assert cost == pytest.approx(10e6 / 1024)
    assert copies.share(cell, place) == pytest.approx(0.25)
    assert copies.unnamed(cell[0]) == pytest.approx(20e6 / 1024)
    assert cell[0].is_inside("sender")
    assert not cell[0].is_inside("sender_qemu")


def test_a_pair_that_was_not_measured_is_missed(profile: Profile) -> None:
    with pytest.raises(LookupError, match="sink-one-copy-4096-1"):
        profile.rounds("sink-two-copy-4096-1-to-one-copy")


def test_the_interval_of_a_large_share_is_that_of_the_rest(profile: Profile) -> None:
    found = profile.share([0.96, 0.97, 0.98])
    rest = profile.share([0.04, 0.03, 0.02])
    assert (found.low, found.high) == pytest.approx((1 - rest.high, 1 - rest.low))


FOUND = re.fullmatch(r"of-(.*)-(sender)", "of-sink-two-copy-4096-1-to-zero-copy-sender")


def _checked(
    profile: Profile, name: str, change: str, category: str = "not categorised"
) -> list[bool | None]:
    columns = ["Function", "Category", "Before", "After", "Change"]
    cells = [f"`{name}`", category, "0", change, f"+{change}"]
    row = dict(zip(columns, cells, strict=True))
    run: Any = SimpleNamespace(profile=profile)
    assert FOUND is not None
    found = difference_row(run, "", FOUND, row, Table("sec", "of", "", columns, [cells], 1))
    return [found[title] for title in ("Before", "After")]


def test_of_functions_that_changed_alike_either_may_be_among_those_that_did_most(
    tmp_path: Path,
) -> None:
    """Sums of the same samples by other stacks differ in their last place."""
    most = {f"sender;main;more_{one}_[k]": 9e3 for one in range(7)}
    # 0.1 + 0.1 + 0.1 is not 0.3
    split = {f"sender;{caller}_[k];split_[k]": 1024 for caller in ("a", "b", "c")}
    rest = {"sender;main;whole_[k]": 3072, "sender;main;less_[k]": 512, "sender;d_[k]": 1}
    shrunk = {f"sender;main;fewer_{one}_[k]": 9e3 for one in range(8)}
    for rep in (1, 2):
        _write(tmp_path, "two_copy", rep, shrunk)
        _write(tmp_path, "zero_copy", rep, {**most, **split, **rest})
    profile = Profile(tmp_path, CONFIG)
    assert _checked(profile, "split", "3") == [True, True]
    assert _checked(profile, "whole", "3") == [True, True]
    with pytest.raises(ValueError, match="less"):
        _checked(profile, "less", "0.5")


def test_functions_of_one_name_are_each_right_by_their_own_numbers(tmp_path: Path) -> None:
    """A function of a program, and where the compiler put it into another."""
    after = {"sender;main;nameless": 2048, "sender;main;nameless_[i]": 5120}
    for rep in (1, 2):
        _write(tmp_path, "two_copy", rep, {"sender;main;send_[k]": 9e3})
        _write(tmp_path, "zero_copy", rep, after)
    profile = Profile(tmp_path, CONFIG)
    assert _checked(profile, "nameless", "2", "application") == [True, True]
    assert _checked(profile, "nameless", "5", "application") == [True, True]
    assert _checked(profile, "nameless", "7", "application") == [True, False]


@pytest.mark.parametrize(
    ("text", "values", "right"),
    [
        ("97 % (96 to 98 %)", [0.97, 0.97, 0.97], False),
        ("97 % (97 %)", [0.97, 0.97, 0.97], True),
        ("96 % (97 %)", [0.97, 0.97, 0.97], False),
        ("2 % (2 %)", [0.0204, 0.0204, 0.0204], True),
        ("2 % (2 %)", [0.0206, 0.0206, 0.0206], False),
        ("50 % (too wide)", [0.1, 0.5, 0.9], True),
        ("50 % (too wide)", [0.49, 0.5, 0.51], False),
    ],
)
def test_a_share_agrees_with_its_interval(
    profile: Profile, text: str, values: list[float], right: bool
) -> None:
    assert percent_agrees(text, profile.share(values), 0.0, share=True) is right


def test_only_nothing_is_0_percent() -> None:
    assert agrees("p", "0 %", 0.0)
    assert not agrees("p", "0 %", 0.003)
    assert agrees("ps", "99.5 to 101 %", (0.9951, 1.008))


def test_what_guests_and_hypervisors_do_is_the_same_by_another_way() -> None:
    cells = [
        Cell(name, stacks, testbed="vm_pair", cpu_s=PAIR_CPU_S, accelerator="tcg", gigabytes=0.3)
        for name, stacks in (("two_copy", PAIR), ("zero_copy", PAIR_ZERO))
    ]
    facts = facts_of(cells)
    columns, rows = work(facts["cells"])
    titles = [column.title for column in columns]
    said = [[field.replace(NBSP, " ") for field in row] for row in rows]
    run = SimpleNamespace(profile=Profile.__new__(Profile))
    run.profile.repetitions = [recomputed(one) for one in repetitions_of(cells)]
    head = ""
    for row in said:
        head = row[0] or head
        named = dict(zip(titles, [head, *row[1:]], strict=True))
        assert all(work_row(run, "", None, named, None).values())  # type: ignore[arg-type]
        wrong = named | {"rest": "0.123"}
        assert not work_row(run, "", None, wrong, None)["rest"]  # type: ignore[arg-type]
    (outside,) = facts["work_outside"]
    keys = {one.key for one in run.profile.repetitions}
    shares = [outside_work(run.profile.cell(slug_of(key))) for key in sorted(keys)]
    told = list(outside["shares"].values())
    assert [of["low"] for of in told] == pytest.approx(list(map(min, *shares)))
    assert [of["high"] for of in told] == pytest.approx(list(map(max, *shares)))


def recomputed(one: Measured) -> Repetition:
    """Return a repetition as the recomputation reads it."""
    run = one.record["sampled"]
    assert run is not None
    cpu_ns = {side: of["cpu_ns"] for side, of in run["sides"].items()}
    window = Window(cpu_ns, run["received_bytes"], run["window_s"])
    stacks = {side: Counter(of) for side, of in one.stacks.items()}
    key = (one.key.condition, one.key.implementation, one.key.msg_bytes, one.key.n_threads)
    return Repetition(key, one.record["cell"]["rep"], window, None, stacks, {}, None)
