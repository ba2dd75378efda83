"""Reading what perf script prints; tests/data/perf_script/README.md says where it is from."""

import io
from pathlib import Path

import pytest

from copycost.errors import ParseError
from copycost.observers.perf.stacks import Sampled, frame_name, read_samples

DATA = Path(__file__).parents[3] / "data" / "perf_script"


def read(name: str) -> Sampled:
    with (DATA / name).open("rb") as file:
        return read_samples(file, name)


def read_text(text: str) -> Sampled:
    return read_samples(io.BytesIO(text.encode()), "a text")


def only(sampled: Sampled) -> dict[str, int]:
    (stacks,) = sampled.processes.values()
    return stacks.weights


def test_stacks_are_added_up_by_process_outermost_frame_first() -> None:
    sampled = read("perf_6.1_linux_6.18.txt")
    assert sampled.of(sampled.processes).samples == 6
    assert (sampled.lost, sampled.truncated) == (0, False)
    assert len(sampled.processes) == 3  # two senders, and the receiver of one of them
    senders = [one for one in sampled.processes.values() if "__send" in str(one.weights)]
    (weight,) = [
        weight
        for stack, weight in senders[0].weights.items()
        if stack.endswith("tcp_sendmsg_[k];tcp_sendmsg_locked_[k];_copy_from_iter_[k]")
    ]
    assert weight == 2 * 500250  # two samples with the same stack, a period each
    assert all(stack.split(";")[0].startswith("_") for stack in senders[0].weights)


def test_names_with_spaces_and_brackets_of_tasks_and_files() -> None:
    sampled = read("perf_6.1_odd_names.txt")
    assert list(sampled.processes) == [1591]
    weights = only(sampled)
    assert weights["__libc_start_call_main;[unknown]"] == 4 * 5025125
    assert weights["__libc_start_call_main;work"] == 5025125  # without .constprop.0


def test_samples_without_call_chains() -> None:
    text = "sender 5/5 1.5: 100 cpu-clock: \nsender 5/6 1.6: 100 cpu-clock: \n"
    assert only(read_text(text)) == {"[unknown]": 200}
    assert only(read_text(f"{text}\n")) == {"[unknown]": 200}
    assert read_text("") == Sampled()


def test_inlined_frames_offsets_cycles_and_lost_samples() -> None:
    sampled = read("perf_6.8_cycles_inlined_lost.txt")
    assert (sampled.lost_records, sampled.lost_samples, sampled.lost) == (17, 19, 19)
    assert only(sampled) == {
        "two_copy_send_messages;send_all_[i];__send;entry_SYSCALL_64_after_hwframe_[k];"
        "tcp_sendmsg_locked_[k];_copy_from_iter_[k];rep_movs_alternative_[k]": 1212345,
        "__vdso_clock_gettime;std::vector<int, std::allocator<int> >::push_back(int const&);"
        "tcp_ack_[k];bictcp_cong_avoid_[k]": 987654,
    }


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9, 0.999])
def test_a_cut_off_text_loses_only_its_last_sample(kept: float) -> None:
    text = (DATA / "perf_6.1_linux_6.18.txt").read_text()
    whole = read_text(text)
    cut = text[: int(len(text) * kept)]
    sampled = read_text(cut)
    assert sampled.of(sampled.processes).samples == cut.count("\n\n")
    assert sampled.truncated
    for pid, stacks in sampled.processes.items():
        assert stacks.weights.keys() <= whole.processes[pid].weights.keys()


def test_a_foreign_line_is_named_by_its_number() -> None:
    text = (DATA / "perf_6.1_odd_names.txt").read_text() + "nonsense\n\n"
    with pytest.raises(ParseError, match="line 21: found 'nonsense'"):
        read_text(text)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("\tffffffff81b6c5e0 _copy_from_iter ([kernel.kallsyms])", "_copy_from_iter_[k]"),
        ("\tffffffff81b6c5e0 [unknown] ([kernel.kallsyms])", "[unknown]_[k]"),
        ("\t 7f00 f(int) const (/srv/x (deleted))", "f(int) const"),
        ("\t 7f00 (anonymous namespace)::f (/srv/x)", "(anonymous namespace)::f"),
        ("\t 7f00 a;b (/srv/x)", "a:b"),
        ("\tffffffffff600000 vgettimeofday ([vsyscall])", "vgettimeofday"),
        ("\tffffffff81 do_softirq.part.0 ([kernel.kallsyms])", "do_softirq_[k]"),
        ("\tffffffffc01234 tcp_x.isra.0.cold ([my_mod])", "tcp_x_[k]"),
        (
            "\t 1f40 tun_get_user (/lib/modules/6.1/kernel/drivers/net/tun.ko.xz)",
            "tun_get_user_[k]",
        ),
    ],
)
def test_names_of_frames(line: str, name: str) -> None:
    assert frame_name(line.encode()) == name
