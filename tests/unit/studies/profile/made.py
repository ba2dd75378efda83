"""Profiles made by hand: records and stacks of which every share is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from copycost.analysis.stats.settings import StatisticsSettings
from copycost.config.checkout import ROOT
from copycost.config.config import Config
from copycost.config.sources import usual_tree
from copycost.studies.profile.facts import profile_facts
from copycost.studies.profile.functions import load_lists
from copycost.studies.profile.runs import Run
from copycost.studies.profile.tables import Repetition

LISTS = load_lists(ROOT / "data")
SETTINGS = StatisticsSettings(resamples=500)

_IN = "__send;entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];tcp_sendmsg_[k];"
_DOWN = "tcp_sendmsg_locked_[k];tcp_write_xmit_[k];ip_output_[k];__dev_queue_xmit_[k];"
_UP = "net_rx_action_[k];ip_local_deliver_finish_[k];"
_RECEIVE = "__recv;entry_SYSCALL_64_after_hwframe_[k];tcp_recvmsg_[k];tcp_recvmsg_locked_[k];"

# Stacks in percent. This sender copies twice.
SENDER = {
    "main;__memmove_avx512_unaligned_erms": 10,
    f"{_IN}tcp_sendmsg_locked_[k];_copy_from_iter_[k]": 50,
    f"{_IN}{_DOWN}veth_xmit_[k]": 15,
    f"{_IN}{_DOWN}{_UP}tcp_v4_rcv_[k];sock_def_readable_[k];_raw_spin_unlock_irqrestore_[k]": 15,
    f"{_IN}release_sock_[k];tcp_ack_[k]": 10,
}
RECEIVER = {
    f"{_RECEIVE}skb_copy_datagram_iter_[k];_copy_to_iter_[k]": 70,
    f"{_RECEIVE}sk_wait_data_[k];schedule_[k]": 20,
    f"{_RECEIVE}__tcp_transmit_skb_[k];ip_output_[k]": 10,
}
BOTH = {"sender": SENDER, "receiver": RECEIVER}

ZERO_COPY = {
    f"{_IN}tcp_sendmsg_locked_[k];skb_zerocopy_iter_stream_[k];gup_fast_fallback_[k]": 15,
    f"{_IN}{_DOWN}{_UP}skb_copy_ubufs_[k];__pi_memcpy_[k]": 45,
    f"{_IN}{_DOWN}{_UP}tcp_v4_rcv_[k];sock_def_readable_[k]": 20,
    f"{_IN}release_sock_[k];tcp_ack_[k];msg_zerocopy_complete_[k]": 5,
    f"{_IN}{_DOWN}veth_xmit_[k]": 15,
}
# iperf3 with datagrams
UDP_SENDER = {
    "__write;entry_SYSCALL_64_after_hwframe_[k];udp_sendmsg_[k];ip_make_skb_[k];"
    "__ip_append_data_[k];_copy_from_iter_[k]": 40,
    "__write;entry_SYSCALL_64_after_hwframe_[k];udp_sendmsg_[k];udp_send_skb_[k];ip_output_[k];"
    "veth_xmit_[k]": 50,
    "__write;entry_SYSCALL_64_after_hwframe_[k];ksys_write_[k]": 10,
}
UDP_RECEIVER = {
    "__select;entry_SYSCALL_64_after_hwframe_[k];__x64_sys_pselect6_[k];do_select_[k]": 40,
    "__read;entry_SYSCALL_64_after_hwframe_[k];udp_recvmsg_[k];skb_copy_datagram_iter_[k]": 40,
    "__read;entry_SYSCALL_64_after_hwframe_[k];udp_recvmsg_[k];skb_consume_udp_[k]": 20,
}
_SENDS = f"{_IN}tcp_sendmsg_locked_[k];tcp_write_xmit_[k];ip_output_[k];dev_hard_start_xmit_[k];"
_COMES = "asm_common_interrupt_[k];handle_softirqs_[k];net_rx_action_[k];virtnet_poll_[k];"
_ENTRY = "entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];"
_WRITES = f"main loop and I/O_[h];{_ENTRY}do_writev_[k];tun_chr_write_iter_[k];tun_get_user_[k];"
_READS = f"main loop and I/O_[h];{_ENTRY}ksys_read_[k];tun_chr_read_iter_[k];tun_do_read_[k];"

_ACKNOWLEDGED = {
    f"{_COMES}napi_complete_done_[k];ip_rcv_[k];tcp_v4_rcv_[k];tcp_ack_[k]": 60,
    f"{_COMES}try_fill_recv_[k];virtqueue_notify_[k]": 40,
}
_WAITS = {
    f"main loop and I/O_[h];{_ENTRY}__x64_sys_ppoll_[k];do_sys_poll_[k];eventfd_poll_[k]": 5,
    "main loop and I/O_[h];[unknown]_[h]": 5,
}

# two emulated guests, the sender copying twice
PAIR: dict[str, dict[str, int]] = {
    "sender": {
        "main;__memmove_avx_unaligned": 10,
        f"{_IN}tcp_sendmsg_locked_[k];_copy_from_iter_[k]": 20,
        f"{_SENDS}start_xmit_[k];virtqueue_notify_[k];vp_notify_[k]": 60,
        f"{_IN}release_sock_[k];tcp_ack_[k]": 10,
    },
    "receiver": {
        f"{_RECEIVE}skb_copy_datagram_iter_[k];_copy_to_iter_[k]": 70,
        f"{_RECEIVE}sk_wait_data_[k];schedule_[k]": 30,
    },
    "sender_guest": _ACKNOWLEDGED,
    "receiver_guest": {
        f"{_COMES}ip_rcv_[k];tcp_v4_rcv_[k];sock_def_readable_[k]": 60,
        f"{_COMES}try_fill_recv_[k];virtqueue_notify_[k]": 40,
    },
    "sender_qemu": {
        "virtual CPUs_[e];[unknown]_[e]": 70,
        f"{_WRITES}skb_copy_datagram_from_iter_[k];copy_page_from_iter_[k]": 10,
        f"{_WRITES}netif_receive_skb_[k];br_handle_frame_[k];__dev_queue_xmit_[k];"
        "tun_net_xmit_[k]": 5,
        f"virtual CPUs_[e];{_ENTRY}ksys_write_[k];eventfd_write_[k]": 5,
        **_WAITS,
    },
    "receiver_qemu": {
        "virtual CPUs_[e];[unknown]_[e]": 70,
        f"{_READS}skb_copy_datagram_iter_[k];_copy_to_iter_[k]": 10,
        f"{_READS}consume_skb_[k]": 5,
        "main loop and I/O_[h];__memmove_avx_unaligned_[h]": 5,
        **_WAITS,
    },
}
PAIR_ZERO = {
    **PAIR,
    "sender": {
        f"{_IN}tcp_sendmsg_locked_[k];skb_zerocopy_iter_stream_[k];gup_fast_fallback_[k]": 30,
        f"{_SENDS}start_xmit_[k];virtqueue_notify_[k];vp_notify_[k]": 60,
        f"{_IN}release_sock_[k];tcp_ack_[k];msg_zerocopy_complete_[k]": 10,
    },
}
# both sides in one emulated guest
IN_ONE_GUEST = {
    "sender": ZERO_COPY,
    "receiver": RECEIVER,
    "guest": _ACKNOWLEDGED,
    "qemu": {"virtual CPUs_[e];[unknown]_[e]": 90, **_WAITS},
}
# in a window of a second
PAIR_CPU_S = {
    "sender": 0.3, "receiver": 0.2, "sender_guest": 0.1, "receiver_guest": 0.15,
    "sender_qemu": 0.6, "receiver_qemu": 0.5,
}  # fmt: skip
_SAMPLES = 4000


@dataclass(frozen=True)
class Cell:
    """A cell of a made run.

    `cpu_s` is the CPU time of the sides in a window of a second; `wobble` lets it, and what is
    received, differ from one repetition to the next.
    """

    implementation: str
    stacks: Mapping[str, Mapping[str, int]]
    testbed: str = "veth"
    msg_bytes: int = 65536
    n_threads: int = 1
    repetitions: int = 3
    cpu_s: Mapping[str, float] = field(default_factory=lambda: {"sender": 0.8, "receiver": 0.6})
    gigabytes: float = 2.0
    copied_share: float | None = None
    accelerator: str | None = None
    wobble: Sequence[float] = (1.0, 1.02, 0.99, 1.01)
    overhead: Sequence[float] = (1.04, 1.05, 1.06, 1.05)
    # what is sampled after the first repetition, where that differs
    later: Mapping[str, Mapping[str, int]] | None = None
    status: str = "measured"
    reason: str | None = None
    remedy: str | None = None


def _repetition(cell: Cell, rep: int) -> Repetition:
    names = ("testbed", "implementation", "msg_bytes", "n_threads")
    usual = {"working_set": "hot", "receiver": "recv", "placement": "apart", "rep": rep}
    record: Any = {
        "study": "profile",
        "cell": {name: getattr(cell, name) for name in names} | usual,
        **{name: getattr(cell, name) for name in ("status", "reason", "remedy")},
    }
    if cell.status != "measured":
        return Repetition(record, (), {})
    cpu_ns = {side: cell.cpu_s[side] * 1e9 * cell.wobble[rep - 1] for side in cell.stacks}
    stacks = {}
    for side, shares in (cell.stacks if cell.later is None or rep == 1 else cell.later).items():
        weight = round(cpu_ns[side] / _SAMPLES) * _SAMPLES
        stacks[side] = {
            tuple(stack.split(";")): weight * share // sum(shares.values())
            for stack, share in shares.items()
        }
    sides = {
        side: {"samples": _SAMPLES, "weight": sum(one.values())} for side, one in stacks.items()
    }
    sampling = {"source": "timer", "frequency_hz": 3999, "lost": 0, "truncated": False}
    record["observed"] = {"sampling": {**sampling, "sides": sides}}
    received_bytes = round(cell.gigabytes * 1e9)
    run = Run(1.0, received_bytes, cpu_ns, cell.copied_share, cell.accelerator)
    plain = replace(run, received_bytes=round(received_bytes * cell.overhead[rep - 1]))
    return Repetition(record, (run, plain), stacks)


def repetitions_of(cells: Sequence[Cell]) -> list[Repetition]:
    """Return the repetitions of a made run."""
    found = [_repetition(cell, rep) for cell in cells for rep in range(1, cell.repetitions + 1)]
    return sorted(found, key=lambda one: (one.key, one.record["cell"]["rep"]))


def config(
    cpu_budget: Mapping[str, object] | None = None,
    datagrams: Mapping[str, object] | None = None,
    **profile: object,
) -> Config:
    """Return a configuration of such studies: by default, two ways to send over veth."""
    tree = usual_tree()
    tree["cpu_budget"] |= cpu_budget or {}
    tree["datagrams"] |= datagrams or {}
    usual: dict[str, Any] = {
        "enabled": True, "implementations": ("two_copy", "zero_copy"), "testbeds": ("veth",),
        "msg_bytes": (65536,), "n_threads": (1,), "working_sets": ("hot",),
        "differences": (("two_copy", "zero_copy"),), "repetitions": 3,
    }  # fmt: skip
    found = Config.from_dict(tree)
    return replace(found, profile=replace(found.profile, **{**usual, **profile}))


def facts_of(cells: Sequence[Cell], **changes: object) -> dict[str, Any]:
    """Return the facts of a made run."""
    return profile_facts(repetitions_of(cells), config(**changes).profile, LISTS, SETTINGS)
