"""What is read at an edge of a window belongs together, also where the reader is held up."""

import time

import pytest

from copycost.hosts.window_edges import of_one_moment


@pytest.mark.parametrize(
    ("durations_ns", "taken"),
    [([10**9, 0, 10**9], 0), ([3 * 10**9, 10**9, 2 * 10**9], 10**9)],
    ids=["until it took but a moment", "else the fastest of three"],
)
def test_a_reading_that_was_held_up_is_taken_again(
    monkeypatch: pytest.MonkeyPatch, durations_ns: list[int], taken: int
) -> None:
    now_ns = [0]
    monkeypatch.setattr(time, "monotonic_ns", lambda: now_ns[0])
    durations = iter(durations_ns)

    def read() -> int:
        took_ns = next(durations)
        now_ns[0] += took_ns
        return took_ns

    assert of_one_moment(read) == taken
