"""The lists of data/functions, and what they say of a stack."""

import shutil
from pathlib import Path

import pytest

from copycost.config.checkout import ROOT
from copycost.errors import DataError
from copycost.studies.profile.functions import (
    ELSEWHERE,
    UNCATEGORISED,
    finder,
    load_lists,
)

SEND = ("__send", "entry_SYSCALL_64_after_hwframe_[k]", "do_syscall_64_[k]", "tcp_sendmsg_[k]")


LISTS = load_lists(ROOT / "data")


@pytest.mark.parametrize(
    ("stack", "category", "box"),
    [
        (("__send",), "user", "application_sends"),
        (SEND[:3], "system_call", "send_call"),
        ((*SEND, "tcp_sendmsg_locked_[k]", "_copy_from_iter_[k]"), "copy", "copy_in"),
        ((*SEND, "skb_copy_ubufs_[k]", "__pi_memcpy_[k]"), "deferred_copy", "deferred_copy"),
        ((*SEND, "__alloc_skb_[k]", "memset_[k]"), "allocation", "transport_sends"),
        ((*SEND, "ip_output_[k]", "net_rx_action_[k]", "tcp_v4_rcv_[k]"),
         "protocol", "transport_receives"),
        ((*SEND, "sock_def_readable_[k]", "_raw_spin_unlock_irqrestore_[k]"),
         "scheduling", "wake_up"),
        ((*SEND, "a_function_of_tomorrow_[k]"), UNCATEGORISED, "transport_sends"),
        ((*SEND, "[unknown]_[k]"), UNCATEGORISED, "transport_sends"),
        (("asm_sysvec_apic_timer_interrupt_[k]",), "softirq", ELSEWHERE),
    ],
)  # fmt: skip
def test_a_sample_is_its_innermost_function_and_lies_in_the_box_that_began_last(
    stack: tuple[str, ...], category: str, box: str
) -> None:
    assert LISTS.categories.of_stack(stack) == category
    assert LISTS.data_path.of_stack("sender", stack)[0] == box


def test_where_a_sample_lies_depends_on_whose_it_is() -> None:
    assert LISTS.data_path.of_stack("receiver", SEND[:3])[0] == "receive_call"
    reading = (*SEND, "tcp_recvmsg_locked_[k]", "__skb_datagram_iter_[k]")
    assert LISTS.data_path.of_stack("receiver", reading)[0] == "copy_out"


def test_a_name_is_one_thing_and_goes_before_a_pattern_and_a_long_one_before_a_short_one() -> None:
    lists = {"a": ["tcp_*"], "b": ["tcp_gro_*"], "c": ["tcp_gro_receive"]}
    find = finder([(meaning, {"user": names}) for meaning, names in lists.items()], "test")
    found = [find(name) for name in ("tcp_x", "tcp_gro_x", "tcp_gro_receive", "udp_x", "tcp_x_[k]")]
    assert found == ["a", "b", "c", None, None]
    with pytest.raises(DataError, match="tcp_x is both a and b"):
        finder([("a", {"user": ["tcp_x"]}), ("b", {"user": ["tcp_x"]})], "test")


@pytest.mark.parametrize(
    ("path", "name", "other", "told"),
    [
        ("functions/categories.yaml", "title:", "titel:", r"categories\.yaml: .*'title'"),
        ("functions/data_path.yaml", "lane:", "lain:", r"data_path\.yaml: .*'lane'"),
        ("published/function-shares.csv", "tcp_ack", "nobody_knows",
         r"chains\.yaml: no names for nobody_knows"),
    ],
)  # fmt: skip
def test_a_broken_list_is_named(
    tmp_path: Path, path: str, name: str, other: str, told: str
) -> None:
    data = shutil.copytree(ROOT / "data", tmp_path / "data")
    (data / path).write_text((data / path).read_text().replace(name, other))
    with pytest.raises(DataError, match=told):
        load_lists(data)


@pytest.mark.parametrize(
    ("stack", "is_in"),
    [
        ((*SEND, "tcp_sendmsg_locked_[k]", "_copy_from_iter_[k]"), True),
        ((*SEND, "tcp_sendmsg_locked_[k]", "between_[k]", "copyin_[k]", "more_[k]"), True),
        (("_copy_from_iter_[k]", *SEND, "tcp_sendmsg_locked_[k]"), False),
        ((*SEND, "_copy_from_iter_[k]"), False),
    ],
)
def test_a_chain_needs_its_functions_in_order_and_nothing_else(
    stack: tuple[str, ...], is_in: bool
) -> None:
    assert LISTS.published.is_in("tcp_sendmsg;tcp_sendmsg_locked;skb_do_copy_data", stack) == is_in
