"""Records of earlier shapes keep what they say in the present one."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from sample_records import sample_record

from copycost.drivers.rates import rates_of
from copycost.errors import DataError
from copycost.grid.cells import Cell
from copycost.records.record import SCHEMA_VERSION, cell_of, check_record, read_record
from copycost.studies.profile.record import folded_path, profile_of
from tools.upgrade_records import upgrade, upgrade_tree

SECOND_NS = 10**9
CAPTURED = Path(__file__).parents[1] / "data" / "iperf3"
COMMON = {
    "status": "measured",
    "reason": None,
    "remedy": None,
    "host_digest": "0" * 64,
    "boot_id": "made",
    "commit": None,
}


def profile(**cell: Any) -> dict[str, Any]:  # noqa: ANN401
    def run(n_bytes: int, clock: str) -> dict[str, Any]:
        return {
            "started_at": "2026-01-05T10:00:00+00:00",
            "window_s": 0.299931854,
            "received_bytes": n_bytes,
            "sides": {
                side: {"cpu_ns": cpu_ns, "cpu_source": clock}
                for side, cpu_ns in (("sender", 299637377.0), ("receiver", 154582386.0))
            },
            "copied_share": None if "iperf3" in own["implementation"] else 0.7,
            "warnings": ["steal"],
        }

    own = {
        "testbed": "veth",
        "implementation": "zero_copy",
        "msg_bytes": 65507,
        "n_threads": 1,
        "working_set": "hot",
        "receiver": "recv",
        "rep": 1,
    } | cell
    side = {"samples": 1194, "weight": 298574028}
    sampling = {
        **{"event": "cpu-clock", "source": "timer", "frequency_hz": 3999, "call_graph": "fp"},
        **{"perf_version": "6.1", "lost": 0, "truncated": False, "sides": {"sender": side}},
    }
    return {
        **COMMON,
        "schema_version": 1,
        "study": "profile",
        "cell": own,
        "sampling": sampling,
        "sampled": run(1515962994, "task_clock"),
        "plain": run(2238505204, "process_clock"),
    }


@pytest.mark.parametrize("implementation", ["zero_copy", "iperf3", "iperf3_udp"])
def test_both_runs_of_a_profile_come_to_the_same(implementation: str) -> None:
    old = profile(implementation=implementation)
    found = profile_of(check_record(upgrade(old), "record"))
    for name in ("sampled", "plain"):
        assert found[name] == old[name] | {"accelerator": None}  # type: ignore[literal-required]
    for name in ("sampling", "status", "host_digest", "boot_id"):
        assert found[name] == old[name]  # type: ignore[literal-required]


def test_a_profile_without_a_measurement_keeps_its_reason() -> None:
    gone = dict.fromkeys(("sampling", "sampled", "plain"))
    old = {**profile(), **gone, "status": "skipped", "reason": "no perf", "remedy": "get it"}
    record = check_record(upgrade(old), "record")
    assert (record["status"], record["reason"], record["remedy"]) == (
        "skipped",
        "no perf",
        "get it",
    )
    assert record["driver"] is record["undisturbed"] is None


def datagrams(testbed: str) -> dict[str, Any]:
    perf = {"status": "missing", "reason": "no perf", "events": {}}
    usage = {
        **{"window_ns": SECOND_NS, "cpu_ns": SECOND_NS // 2, "waiting_ns": None},
        **{"read_bytes": 10**9, "written_bytes": 0, "read_calls": 5, "write_calls": 0},
    }
    printed = {
        role: json.loads((CAPTURED / f"udp_{role}.json").read_text())
        for role in ("client", "server")
    }
    return {
        **COMMON,
        "schema_version": 1,
        "study": "datagrams",
        "cell": {
            **{"testbed": testbed, "driver": "iperf3", "n_streams": 1, "rep": 2},
            "datagram_bytes": 1472,
        },
        "settings": {
            **{"warmup_s": 0.1, "duration_s": 0.5, "sender_cpus": [0], "receiver_cpus": [1]},
        },
        **{"started_at": "2026", "start_ns": 5, "end_ns": SECOND_NS + 5, "lock_wait_s": 0.0},
        "testbed": {
            **{"kind": testbed, "isolation": "host", "mtu_bytes": 65536},
            "offloads": {"tso": True, "gso": True, "gro": None},
        },
        "driver": {
            **{"name": "iperf3", "version": "3.12", "path": "iperf3"},
            **{"process_pairs": 1, "streams_per_pair": 1, "pairs": [{"began_ns": 0, **printed}]},
        },
        "limiter": None,
        "window": {"start_ns": 0, "end_ns": SECOND_NS},
        **{side: {**usage, "perf": perf} for side in ("sender", "receiver")},
        "datagrams": {"drained": True, "begin": {}, "stopped": {}, "end": {}},
        "warnings": [{"code": "steal", "detail": "some"}],
    }


def test_datagrams_over_loopback_get_their_testbed() -> None:
    record = check_record(upgrade(datagrams("loopback")), "record")
    assert record["cell"] == Cell("datagrams", "loopback_udp", "iperf3", 1472, 1, rep=2).key
    assert record["testbed"] is not None
    assert record["testbed"]["kind"] == "loopback_udp"
    assert record["wall_s"] == 1.0
    rates = rates_of(record)
    assert rates["sender_cpu_percent"] == 50.0
    assert rates["kernel_bits_per_s"] == 8e9


def test_a_whole_tree_gets_the_paths_of_today_and_its_stacks(tmp_path: Path) -> None:
    old = tmp_path / "old" / "profile" / "implementation=iperf3_udp"
    old.mkdir(parents=True)
    (old / "rep=1.json").write_text(json.dumps(profile(implementation="iperf3_udp")))
    (old / "rep=1.folded.gz").write_bytes(gzip.compress(b"sender;main 1\n"))
    assert upgrade_tree(tmp_path / "old", tmp_path / "new") == 1
    place = tmp_path / "new" / (
        "profile/testbed=veth/implementation=iperf3/msg_bytes=65507/n_threads=1/working_set=hot"
        "/receiver=recv/placement=apart/rep=1.json"
    )  # fmt: skip
    record = read_record(place)
    assert record["schema_version"] == SCHEMA_VERSION
    assert profile_of(record)["sampled"] is not None
    assert gzip.decompress(folded_path(place).read_bytes()) == b"sender;main 1\n"


@pytest.mark.parametrize(
    ("receiver_cpus", "placement"), [([1, 0], "apart"), ([0, 1], "same"), (None, "apart")]
)
def test_the_placement_of_an_earlier_record_follows_from_its_cpus(
    receiver_cpus: list[int] | None, placement: str
) -> None:
    record = sample_record()
    del record["cell"]["placement"]
    record["schema_version"] = 3
    record["settings"] |= {"sender_cpus": [0, 1], "receiver_cpus": receiver_cpus}
    found = check_record(upgrade(record), "record")
    assert found["cell"]["placement"] == placement
    assert list(found["cell"])[-1] == "rep"
    assert Cell.from_path(cell_of(found).path) == cell_of(found)


def test_what_is_of_no_earlier_shape_is_named(tmp_path: Path) -> None:
    (tmp_path / "rep=1.json").write_text('{"study": "streams", "schema_version": 9}')
    with pytest.raises(DataError, match=r"rep=1\.json: cannot be converted: .*schema 9"):
        upgrade_tree(tmp_path, tmp_path / "new")


def test_a_record_without_machines_was_of_sides_on_one() -> None:
    old = sample_record(rep=1)
    old["schema_version"] = 4
    del old["testbed"]["machines"], old["observed"]["kernel"]["machines"]
    assert check_record(upgrade(old), "upgraded") == sample_record(rep=1)
