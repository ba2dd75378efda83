"""The real workflow, killed or interrupted in the middle: what was measured before stays."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from measured.failures_support import Running
from workflow.support import Checkout, clean_environment

from copycost.records.record import read_record

pytestmark = pytest.mark.slow


@pytest.fixture
def checkout(built: Checkout) -> Checkout:
    """A checkout in which all is ready to measure eight repetitions."""
    return built


@contextmanager
def two_measured(checkout: Checkout) -> Iterator[tuple[Running, dict[Path, bytes]]]:
    """Start the workflow, wait for two records and for a third that is under way."""
    process = subprocess.Popen(
        checkout.command("--cores", "1", "measure"),
        cwd=checkout.path,
        env=clean_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    running = Running(process)
    try:
        running.wait_until(lambda: len(records(checkout)) >= 2, "two records")
        running.child("receiver_recv")
        yield running, records(checkout)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def records(checkout: Checkout) -> dict[Path, bytes]:
    """Return all records and what is in them."""
    paths = (checkout.path / "results" / "raw").rglob("*.json")
    return {path: path.read_bytes() for path in paths}


def assert_whole_and_kept(checkout: Checkout, before: dict[Path, bytes]) -> None:
    """Fail if a record of before has changed, is cut off, or has a half-written neighbour."""
    now = records(checkout)
    assert before.items() <= now.items()
    for path in now:
        read_record(path)
    left = [p.name for p in (checkout.path / "results" / "raw").rglob("*") if p.is_file()]
    assert all(name.endswith(".json") for name in left), left


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill", "ctrl_c"])
def test_a_workflow_that_was_ended_goes_on_where_it_stopped(
    checkout: Checkout, number: signal.Signals
) -> None:
    with two_measured(checkout) as (running, before):
        if number is signal.SIGKILL:
            os.kill(running.process.pid, number)
        else:
            os.killpg(running.process.pid, number)  # as the terminal does
        ended = running.end()
        running.assert_nothing_left()
    assert ended.code != 0
    assert "Traceback" not in ended.text
    assert_whole_and_kept(checkout, before)
    checkout.snakemake("--cores", "1", "measure")
    assert_whole_and_kept(checkout, before)
    assert len(checkout.records()) == 8
