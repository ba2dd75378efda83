"""The recomputation of what guests cost, against the package's own tables, from the same records.

Both were written from the same description and share no code.
"""

import random
from pathlib import Path

import pytest
from sample_records import guest_entry, in_guests, sample_record, with_round_trips
from unit.fleet.made import Records, write_run

from copycost.analysis.virtual_round_trips import round_trips_in_guests
from copycost.records.table import make_table
from copycost.report.virtual_tables import round_trips
from copycost.studies.round_trips.columns import ROUND_TRIPS
from copycost.studies.round_trips.table import derive_round_trips
from copycost.wording.percent import NBSP
from tools.recompute.document import Table
from tools.recompute.report_tables import check
from tools.recompute.run import Run

SECTION = {
    "implementations": ["two_copy"],
    "testbeds": ["veth", "vm_pair", "vm_host"],
    "msg_bytes": [64, 65536],
    "n_threads": [1],
}


def records() -> Records:
    """Return round trips without guests, between two, and from one to its host."""
    rng = random.Random(1)
    guests = {
        "veth": (),
        "vm_pair": (("a", "sender"), ("b", "receiver")),
        "vm_host": (("a", "sender"),),
    }
    found = []
    for rep in range(1, 4):
        for testbed, ends in guests.items():
            for size in SECTION["msg_bytes"]:
                start_ns = 10**12 + 10**10 * len(found)
                record = with_round_trips(
                    sample_record(
                        testbed=testbed, msg_bytes=size, rep=rep,
                        start_ns=start_ns, end_ns=start_ns + 10**9,
                    )
                )  # fmt: skip
                times = record["driver"]["sender"]["round_trip"]
                factor = rng.gauss(5.0 if ends else 1.0, 0.1)
                tail = factor * rng.gauss(1.0, 0.02)
                for name in ("mean_ns", "p50_ns", "p90_ns"):
                    times[name] = round(times[name] * factor)
                for name in ("p99_ns", "p999_ns", "max_ns"):
                    times[name] = round(times[name] * tail)
                times["percentiles"] = []
                times["samples"] = round(times["samples"] / factor)
                if ends:
                    in_guests(record, *(guest_entry(*end) for end in ends))
                found.append(record)
    return found


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(write_run(tmp_path / "results", records()))


@pytest.mark.parametrize("condition", ["vm_pair", "vm_host"])
def test_round_trips_in_guests_are_the_same_by_another_way(run: Run, condition: str) -> None:
    table = make_table([derive_round_trips(record) for record in records()], ROUND_TRIPS)
    pairs = {one["slug"]: one for one in round_trips_in_guests(table, SECTION, 0.95)}
    columns, rows = round_trips(pairs[condition])
    said = [[field.replace(NBSP, " ") for field in row] for row in rows]
    titles = [column.title for column in columns]
    identifier = f"tbl-{condition.replace('_', '-')}-virtual-trips"

    def fields() -> list[list[bool | None]]:
        return check(run, condition, Table("sec", identifier, "", titles, said, 1))

    right = fields()
    assert len(right) == 2
    at = titles.index("median")
    assert all(field for row in right for field in row[at:])
    for column in range(at, len(titles)):
        before, said[0][column] = said[0][column], "9.99 (9.00 to 10.1)"
        assert fields()[0][column] is False
        said[0][column] = before
