"""Lists in the chapter on the method."""

from copycost.report.method import cpu_list, cpu_lists, wake_up_marks


def test_cpu_numbers_are_put_in_words() -> None:
    assert [cpu_list(text) for text in ("0", "0,2", "any")] == ["CPU 0", "CPUs 0, 2", "any CPU"]
    assert cpu_lists(["0,1", "1;0"]) == "CPUs 0, 1 or CPUs 1, 0"
    assert cpu_lists([]) == "no CPU in particular"


def test_sizes_with_the_same_mark_share_it() -> None:
    marks = [{"bytes": 65536, "msg_bytes": size} for size in (1024, 4096)]
    marks.append({"bytes": 1048576, "msg_bytes": 65536})
    text = wake_up_marks(marks).replace("\u00a0", " ")
    assert text == "64 KiB (messages of 1 KiB and 4 KiB) or 1 MiB (messages of 64 KiB)"
