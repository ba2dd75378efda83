"""What a record keeps of what the programs in a guest say."""

from typing import Any

import pytest

from copycost.errors import HostError, TookTooLong, Unavailable
from copycost.measure.simulated.cell import Simulated
from copycost.studies.simulated.cell import outcome_of, receiver_of, require_received, sender_of

SENDER: dict[str, Any] = {
    "in_window": {"messages": 64, "bytes": 64 << 16, "send_calls": 64, "elapsed_ns": 7},
    "total": {"messages": 112},
    "zero_copy": None,
}
ZERO_COPY = {
    "sent": 112, "sent_in_window": 64, "completed": 112, "completed_in_window": 63,
    "copied": 112, "copied_in_window": 63, "notifications": 9, "notifications_in_window": 5,
    "copied_unknown": None,
}  # fmt: skip


def test_bytes_of_both_sides_and_what_was_copied_after_all_are_kept() -> None:
    found = Simulated({}, SENDER | {"zero_copy": ZERO_COPY}, {"in_window": {"bytes": 5 << 20}})
    assert sender_of(found) == {
        "messages": 64,
        "bytes": 64 << 16,
        "zero_copy": {"sent": 64, "completed": 63, "copied": 63, "copied_unknown": None},
    }
    assert receiver_of(found) == {"bytes": 5 << 20}


def test_who_asks_for_no_zero_copy_and_whom_nobody_receives_from_have_none() -> None:
    found = Simulated({}, SENDER, None)
    assert (sender_of(found)["zero_copy"], receiver_of(found)) == (None, None)
    require_received(found)


def test_a_window_in_which_the_receiver_read_nothing_gives_no_count_per_byte() -> None:
    with pytest.raises(Unavailable, match="read nothing in the window; raise"):
        require_received(Simulated({}, SENDER, {"in_window": {"bytes": 0}}))


def test_only_what_took_too_long_is_to_be_run_again_as_it_is() -> None:
    slow = outcome_of(TookTooLong("the guest took too long"))
    assert slow["remedy"] == "run again with ./run --retry-failed"
    refused = "QEMU ended with exit status 1; it said last: simulated: l1d: got 1000 bytes"
    assert outcome_of(HostError(refused))["remedy"].startswith("mend what is named")
    missing = outcome_of(Unavailable("no kernel", "install one"))
    assert (missing["status"], missing["remedy"]) == ("skipped", "install one")
