"""Working sets, receivers, batches and round trips: each only measures what is new or changed."""

from pathlib import Path

import pytest
from workflow.conftest import WholeRun, only_built
from workflow.support import Checkout


@pytest.fixture(scope="module")
def measured(whole_run: WholeRun, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """One repetition each of two receivers, of the sink and of round trips."""
    folder = tmp_path_factory.mktemp("dimensions")
    checkout = only_built(whole_run.checkout.copy(folder / "checkout"))
    checkout.configure(
        "streams", implementations=["two_copy"], msg_bytes=["4KiB"], receivers=["recv", "trunc"]
    )
    checkout.configure(
        "udp", implementations=["two_copy"], msg_bytes=["4KiB"], working_sets=["hot"]
    )
    checkout.configure(
        "round_trips",
        implementations=["two_copy"],
        testbeds=["loopback"],
        msg_bytes=[64],
        n_threads=[1],
    )
    # long enough for a median of round trips on a busy host too
    checkout.configure("measure", repetitions=1, memory_floor=True, duration_s=0.3)
    checkout.snakemake("--cores", "2", "tables")
    return checkout


@pytest.fixture
def checkout(measured: Checkout, tmp_path: Path) -> Checkout:
    return measured.copy(tmp_path / "checkout")


def test_streams_and_round_trips_have_a_table_each(measured: Checkout) -> None:
    found = measured.rows("cells")
    assert {row["condition"] for row in found} == {"loopback", "loopback_trunc", "sink"}
    assert {row["status"] for row in found} <= {"measured", "skipped"}  # sink needs some rights
    (round_trip,) = measured.rows("round_trips")
    assert round_trip["status"] == "measured", round_trip["reason"]
    assert 0 < float(round_trip["p50_ns"]) <= float(round_trip["max_ns"])


def test_what_is_added_is_measured_alone(checkout: Checkout) -> None:
    before = (checkout.path / "config.yaml").read_text()
    checkout.configure("streams", working_sets=["hot", "16MiB"])
    assert [path.partition("n_threads=1/")[2] for path in checkout.planned_cells()] == [
        "working_set=16777216/receiver=recv/placement=apart/rep=1.json",
        "working_set=16777216/receiver=trunc/placement=apart/rep=1.json",
    ]
    (checkout.path / "config.yaml").write_text(before)
    checkout.configure("streams", receivers=["recv", "trunc", "uring"])
    planned, (path,) = checkout.plan()
    assert planned["build_receiver"] == 1
    assert path.endswith("receiver=uring/placement=apart/rep=1.json")
    assert planned.keys().isdisjoint({"build_sender", "collect_host"})


def test_what_nobody_receives_does_not_depend_on_a_receiver_and_memory_is_measured_apart(
    checkout: Checkout,
) -> None:
    checkout.append("src/memory_floor.c", "/* edited */\n")
    planned = checkout.planned()
    assert (planned["build_program"], planned["measure_memory"]) == (1, 1)
    assert "run_cell" not in planned
    checkout.configure("measure", memory_floor=False)
    assert checkout.planned().keys().isdisjoint({"measure_memory", "run_cell"})
    checkout.append("src/receivers/recv.c", "/* edited */\n")
    assert [path.partition("/implementation")[0] for path in checkout.planned_cells()] == [
        "results/raw/round_trips/testbed=loopback",
        "results/raw/streams/testbed=loopback",
    ]
