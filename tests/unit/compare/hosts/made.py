"""Results of hosts as ./run leaves them, small, with a known host."""

import copy
import json
import random
from pathlib import Path
from typing import Any

import yaml
from sample_records import sample_record, with_round_trips
from synthetic import Run, make_config, make_host

from copycost.compare.hosts.import_archive import Parcel, read_parcel
from copycost.records.record import cell_of, host_digest, write_record
from tools.simulate_fleet import varied_rounds

Records = list[dict[str, Any]]


def host_facts(**identity: object) -> dict[str, Any]:
    """Return the facts of a host; keywords replace values of its identity."""
    host = copy.deepcopy(make_host(Run()))
    host["identity"] |= identity
    return host


def records_of(
    reps: range = range(1, 4),
    implementations: tuple[str, ...] = ("two_copy", "one_copy"),
    start_s: int = 100,
    boot: str = "11111111-2222-3333-4444-555555555555",
    started_at: str = "2026-01-01T00:00:00+00:00",
    **changes: Any,  # noqa: ANN401
) -> Records:
    """Return records of a small grid, one after the other in time."""
    found = []
    for rep in reps:
        for name in implementations:
            start = (start_s + 10 * len(found)) * 10**9
            found.append(
                sample_record(
                    name, rep=rep, start_ns=start, boot_id=boot, end_ns=start + 10**9,
                    started_at=started_at, **changes,
                )
            )  # fmt: skip
    return found


def write_run(
    folder: Path,
    records: Records | None = None,
    host: dict[str, Any] | None = None,
    alias: str | None = None,
) -> Path:
    """Write what a run leaves of itself; return the folder."""
    host = host or host_facts()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "host.json").write_text(json.dumps(host), encoding="utf-8")
    config = make_config(Run()) | ({"hosts": {"alias": alias}} if alias else {})
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    for record in records_of() if records is None else records:
        record["host_digest"] = host_digest(host)
        write_record(record, path_of(folder, record))  # type: ignore[arg-type]
    return folder


def path_of(folder: Path, record: dict[str, Any]) -> Path:
    """Return where a record of a run lies."""
    levels = [f"{name}={value}" for name, value in record["cell"].items()]
    return folder / "raw" / record["study"] / Path(*levels).with_suffix(".json")


WAYS = ("two_copy", "one_copy", "zero_copy")


def real(tmp_path: Path) -> Parcel:
    """Return a run whose ways to send are all alike, so that effects are what is simulated."""
    streams = [sample_record(way, msg_bytes=size) for size in (4096, 16384, 65536) for way in WAYS]
    trips = [with_round_trips(sample_record(way, msg_bytes=4096)) for way in WAYS]
    rounds: Any = {cell_of(record): [record] * 4 for record in (*streams, *trips)}
    rng = random.Random(1)
    records: Any = [record for _, record in varied_rounds(rounds, rng)]
    for record in records:  # no two count the same
        for side in record["observed"]["perf_stat"].values():
            for event in side["events"].values():
                event["value"] *= rng.gauss(0.3, 0.01)
    return read_parcel(write_run(tmp_path / "real", records), "lab")
