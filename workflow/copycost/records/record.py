"""One repetition's record: its shape, its schema check, and how it is written and read.

A record is one JSON object in one file. Its shape is stated twice on purpose: as types here, for
mypy, and as a closed JSON schema (`workflow/schemas/record.schema.yaml`), for what lies on disk.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from copycost.build.checkout import SCHEMAS
from copycost.grid.cells import Cell
from copycost.records.kind import RecordKind

SCHEMA_PATH = SCHEMAS / "record.schema.yaml"
SCHEMA_VERSION = 2

Status = Literal["measured", "skipped", "failed"]
EventStatus = Literal["counted", "not_supported", "not_counted", "multiplexed"]
PerfStatus = Literal["counted", "forbidden", "missing", "failed"]
WarningCode = Literal[
    "foreign_load",
    "steal",
    "throttled",
    "window_edge_late",
    "few_messages",
    "lock_waited",
    "user_mode_only",
    "sink_loss",
]


class CellKey(TypedDict):
    """The point of the grid that was measured."""

    testbed: str
    implementation: str
    msg_bytes: int
    n_threads: int
    working_set: str
    receiver: str
    rep: int


class SettingsUsed(TypedDict):
    """How it was measured; None means the kernel's own buffer size.

    `ring_bytes` is 0 where one message is sent again and again, `interval_ns` is 0 where each
    request follows the reply before it.
    """

    warmup_s: float
    duration_s: float
    congestion_control: str
    tcp_nodelay: str
    send_buffer_bytes: int | None
    receive_buffer_bytes: int | None
    sender_cpus: list[int]
    receiver_cpus: list[int]
    fresh: bool
    ring_bytes: int
    interval_ns: int


class PerfEvent(TypedDict):
    """One event of one side.

    `value` is None unless `status` is counted or multiplexed (then perf has scaled it up from
    the `running_percent` of the time). `parts` holds the values per core type of a hybrid CPU.
    """

    value: float | None
    status: EventStatus
    running_percent: float | None
    user_only: bool
    parts: NotRequired[dict[str, float | None]]


class PerfSide(TypedDict):
    """What perf counted for one side within the window."""

    status: PerfStatus
    reason: str | None
    events: dict[str, PerfEvent]


class PerfSides(TypedDict):
    """perf's counts for both sides; `receiver` is None where nobody receives."""

    sender: PerfSide
    receiver: PerfSide | None


class KernelCounters(TypedDict):
    """Kernel counters over the window; softnet's are host-wide."""

    softnet_dropped: int
    softnet_squeezed: int
    tcp_retransmitted_segments: int
    udp_in_errors: int
    udp_receive_buffer_errors: int


class TestbedFacts(TypedDict):
    """The path between the two sides, as read back; an offload is None where ethtool is missing."""

    kind: str
    isolation: str
    mtu_bytes: int
    offloads: dict[str, bool | None]
    addresses: list[str]


class SinkFacts(TypedDict):
    """What became of the datagrams of a whole run, warm-up included, on the testbed `sink`.

    Datagrams are counted by their bytes, since one packet may hold many of them.
    """

    sent_datagrams: int
    dropped_datagrams: int
    lost_before_hook: int
    dropped_packets: int
    dropped_bytes: int


class Disturbance(TypedDict):
    """Something that may have disturbed the measurement."""

    code: WarningCode
    detail: str


class Record(TypedDict):
    """One repetition; keys as in `record.schema.yaml`, which describes each with its unit.

    `sender` and `receiver` are what the programs printed; None unless `status` is measured, and
    `receiver` also where nobody receives. `sink` is None on every other testbed.
    """

    schema_version: int
    study: str
    cell: CellKey
    status: Status
    reason: str | None
    remedy: str | None
    settings: SettingsUsed
    host_digest: str
    commit: str | None
    boot_id: str
    started_at: str
    start_ns: int
    end_ns: int
    lock_wait_s: float
    wall_s: float
    sender: dict[str, Any] | None
    receiver: dict[str, Any] | None
    perf: PerfSides | None
    kernel: KernelCounters | None
    testbed: TestbedFacts | None
    sink: SinkFacts | None
    warnings: list[Disturbance]


def cell_key(cell: Cell) -> CellKey:
    """Return what a record says of its cell, besides the study."""
    return {
        "testbed": cell.testbed,
        "implementation": cell.implementation,
        "msg_bytes": cell.msg_bytes,
        "n_threads": cell.n_threads,
        "working_set": cell.working_set,
        "receiver": cell.receiver,
        "rep": cell.rep,
    }


def host_digest(host: Mapping[str, Any]) -> str:
    """Return the SHA-256 (hex) of the host facts: of their JSON with sorted keys, no spaces."""
    text = json.dumps(host, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# see `RecordKind`
_RECORD: RecordKind[Record] = RecordKind(SCHEMA_PATH)
prepare_check = _RECORD.prepare_check
check_record, read_record, write_record = _RECORD.check, _RECORD.read, _RECORD.write
