"""What a template asks of a condition, and the rows of what was not measured on it."""

from copycost.report.conditions import from_memory, losing
from copycost.report.tables import missing_rows


def test_messages_come_from_memory_where_the_ring_is_larger_than_the_cache() -> None:
    def condition(working_set: str, ring_per_llc: float | None) -> dict:
        return {"working_set": working_set, "quantities": {"ring_per_llc": ring_per_llc}}

    assert from_memory(condition("cold", 4.0))
    assert not from_memory(condition("cold", 0.5))
    assert not from_memory(condition("cold", None))
    assert not from_memory(condition("16777216", 4.0))


def test_every_reason_has_a_row_with_what_helps() -> None:
    loss = {
        "n": 2,
        "implementations": ["one_copy", "two_copy"],
        "msg_bytes": [256, 65536],
        "n_threads": [1],
        "reason": "no | right",
        "remedy": "run as root",
    }
    lost = {"slug": "veth", "failed": [loss | {"remedy": None, "n": 1}], "skipped": [loss]}
    assert losing(lost)
    assert not losing(lost | {"failed": [], "skipped": []})
    cells = ["`one_copy` and `two_copy`", "256 B and 64 KiB", "1"]
    found = [[cell.replace("\u00a0", " ") for cell in row] for row in missing_rows([lost])]
    assert found == [
        ["`veth`", "failed", "1", *cells, r"no \| right"],
        ["`veth`", "skipped", "2", *cells, r"no \| right; run as root"],
    ]
