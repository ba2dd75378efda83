"""Where messages come from: few that stay in the caches, or a ring that is walked; fresh or not."""

import time

import pytest
from c.conftest import Build
from c.harness import SOON_S, Setting, assert_failed, greeted, results

RING_BYTES = 1 << 20


@pytest.mark.parametrize("options", [[], ["--fresh"]], ids=["kept", "fresh"])
@pytest.mark.parametrize("msg_bytes", [64, 65537])
def test_a_cold_ring_loses_no_byte(
    address_build: Build, strategy: str, msg_bytes: int, options: list[str]
) -> None:
    setting = Setting(
        msg_bytes=msg_bytes,
        n_threads=2,
        warmup_s=0.005,
        duration_s=0.03,
        verify=True,
        sender_options=["--ring-bytes", str(RING_BYTES), *options],
    )
    sent, received = results(address_build.sender(strategy), address_build.receiver, setting)
    assert received["verify"]["checked_bytes"] == sent["total"]["bytes"] > 0
    assert sent["options"]["ring_bytes"] == RING_BYTES


def test_a_ring_is_shared_by_the_threads_and_no_larger_than_asked(plain_build: Build) -> None:
    options = ["--ring-bytes", str(8 << 20)]
    setting = Setting(msg_bytes=4096, n_threads=3, sender_options=options)
    sent, _ = results(plain_build.sender("one_copy"), plain_build.receiver, setting)
    ring = sent["ring"]
    assert (7 << 20) < ring["bytes"] <= (8 << 20)
    assert 1800 < ring["messages"] < 2048
    assert ring["fresh"] is False


def test_a_hot_ring_holds_what_must_be_in_flight(plain_build: Build) -> None:
    setting = Setting(msg_bytes=65536)
    for name, n_messages in (("one_copy", 1), ("zero_copy", 128)):
        sent, _ = results(plain_build.sender(name), plain_build.receiver, setting)
        assert sent["ring"]["messages"] == n_messages


def test_a_ring_that_does_not_fit_is_a_failure(plain_build: Build) -> None:
    # More messages than there are numbers for slots: refused before any memory is taken.
    options = ["--ring-bytes", str(1 << 40)]
    setting = Setting(msg_bytes=1, sender_options=options)
    began = time.monotonic()
    with greeted(plain_build.sender("two_copy"), setting) as (sender, _):
        assert_failed(sender.finish(), "ring of 1099511627776 bytes", "Cannot allocate memory")
    assert time.monotonic() - began < SOON_S
