"""The memory floor of this host, measured for real."""

from itertools import pairwise
from pathlib import Path

from copycost.hostinfo.cpu import read_cpu
from copycost.hostinfo.files import HostFiles, Unknowns
from copycost.memory import measure_memory, read_memory, write_memory
from copycost.toolchain import compile_program

ROOT = Path(__file__).parents[2]
SMALLEST_BYTES = 16 << 10


def test_the_floor_is_measured_from_the_first_cache_to_out_of_the_last(tmp_path: Path) -> None:
    program = tmp_path / "memory_floor"
    compile_program("memory_floor", None, program, root=ROOT)
    llc_bytes = read_cpu(HostFiles(), "", Unknowns()).caches.llc_bytes
    host = {"cpu": {"caches": {"llc_bytes": llc_bytes}}}
    record = measure_memory(program, host, lock_path=tmp_path / "lock")
    assert record["status"] == "measured", record["reason"]
    write_memory(record, tmp_path / "memory.json")
    floor = read_memory(tmp_path / "memory.json")["floor"]
    assert floor is not None
    sizes = [point["bytes"] for point in floor["points"]]
    assert sizes[0] == SMALLEST_BYTES
    assert [b / a for a, b in pairwise(sizes)] == [2.0] * (len(sizes) - 1)
    largest = record["settings"]["max_bytes"]
    assert largest / 2 < sizes[-1] <= largest
    assert largest >= 4 * (llc_bytes or 0)
    repetitions = record["settings"]["repetitions"]
    assert {len(point["ns_per_byte"]) for point in floor["points"]} == {repetitions}
