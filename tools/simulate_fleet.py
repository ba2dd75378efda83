"""A fleet that was never measured: hosts made of the records of a real one, their effects known.

Each host's rounds are drawn from those of the real one, cell by cell, and each way to send moves
more or fewer bytes there than it really did, by an effect that is the host's own and, for one way,
by one that goes with the kernel. For the benchmark, for tests, and to try the report::

    PYTHONPATH=workflow python -m tools.simulate_fleet results /tmp/fleet --hosts 200

Every host is called ``simulated-NUMBER``.
"""

import argparse
import copy
import math
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from copycost.compare.hosts.import_archive import Parcel, read_parcel
from copycost.compare.hosts.merging import Merged, merge
from copycost.config.cells import Cell
from copycost.records.record import Record, cell_of, host_digest

MODELS = {  # name: last-level cache [bytes], CPUs
    "Simulated A": (8 << 20, 4),
    "Simulated B": (32 << 20, 16),
    "Simulated C": (256 << 20, 64),
}
KERNELS = ("6.1.0", "6.12.9", "6.18.2")
WITH_KERNEL = ("zero_copy", "6.18.2", 0.25)
"""Which way to send gains with which kernel, by how much [logarithm]."""

SPREAD = 0.15
"""Standard deviation from host to host of each way's effect [logarithm]."""

SPEEDS = 0.4
"""Of the hosts' speeds, in which all ways are alike [logarithm]."""

_GAP_NS = 1_000_000


@dataclass(frozen=True)
class Truth:
    """What one simulated host is like: the effect of each way to send [logarithm]."""

    kernel: str
    model: str
    speed: float
    effects: Mapping[str, float]


def truth_of(number: int, ways: Sequence[str], seed: int, spread: float = SPREAD) -> Truth:
    """Return what a host is like; the baseline's own effect is nothing."""
    rng = random.Random(f"{seed} {number}")
    kernel, model = rng.choice(KERNELS), rng.choice(sorted(MODELS))
    way, release, gain = WITH_KERNEL
    effects = {name: 0.0 if name == "two_copy" else rng.gauss(0.0, spread) for name in ways}
    if kernel == release and way in effects:
        effects[way] += gain
    return Truth(kernel, model, rng.gauss(0.0, SPEEDS), effects)


def make_fleet(
    real: Parcel, fleet: Path, n_hosts: int, n_records: int, seed: int = 1, spread: float = SPREAD
) -> Iterator[Merged]:
    """Write the hosts into a fleet, one after the other, and yield what became of each.

    Each has about `n_records` repetitions: whole cells with all their rounds.
    """
    rounds = rounds_of(real, n_records)
    ways = sorted({cell.implementation for cell in rounds})
    for number in range(1, n_hosts + 1):
        truth = truth_of(number, ways, seed, spread)
        host = _host(real.host, truth)
        rng = random.Random(f"{seed} {number} rounds")
        factors = {name: math.exp(truth.speed + effect) for name, effect in truth.effects.items()}
        about = {"host_digest": host_digest(host), "boot_id": f"{number:064x}"}
        records = [record for _, record in varied_rounds(rounds, rng, factors, about)]
        made = replace(real, name=f"simulated-{number:03}", naming="given", host=host,
                       memory=None, records=records, n_elsewhere=0)  # fmt: skip
        yield merge(made, fleet)


def rounds_of(real: Parcel, n_records: int) -> dict[Cell, list[Record]]:
    """Return the measured rounds of cells: fewest threads first, all ways alike."""
    found: dict[Cell, list[Record]] = {}
    for record in real.records:
        if record["status"] == "measured":
            found.setdefault(replace(cell_of(record), rep=1), []).append(record)
    kept: dict[Cell, list[Record]] = {}
    order = sorted(
        found,
        key=lambda cell: (cell.n_threads, cell.condition != "veth", cell.condition, cell.msg_bytes),
    )
    for cell in order:
        if sum(map(len, kept.values())) + len(found[cell]) <= n_records:
            kept[cell] = found[cell]
    return kept


def _host(real: Mapping[str, Any], truth: Truth) -> dict[str, Any]:
    host: dict[str, Any] = copy.deepcopy(dict(real))
    llc_bytes, n_cpus = MODELS[truth.model]
    host["identity"] |= {
        "kernel_release": truth.kernel, "cpu_model": truth.model, "n_cpus": n_cpus
    }  # fmt: skip
    host["kernel"]["release"] = truth.kernel
    host["cpu"] |= {"model": truth.model, "cpus_online": n_cpus}
    host["cpu"]["caches"]["llc_bytes"] = llc_bytes
    return host


def varied_rounds(
    rounds: Mapping[Cell, Sequence[Record]],
    rng: random.Random,
    factors: Mapping[str, float] | None = None,
    about: Mapping[str, Any] | None = None,
) -> Iterator[tuple[Cell, Record]]:
    """Yield as many repetitions of each cell, one after the other, drawn from the given ones.

    They pass the record schema and every check of the tables. Each moved as much more as the factor
    of its way says, and a little; what else is to be said is the same in all.
    """
    start_ns = 10**9
    for cell, real in rounds.items():
        factor = 1.0 if factors is None else factors[cell.implementation]
        for rep in range(1, len(real) + 1):
            record: Record = copy.deepcopy(rng.choice(real))
            here = replace(cell, rep=rep)
            end_ns = start_ns + record["end_ns"] - record["start_ns"]
            record |= {"cell": here.key, "start_ns": start_ns, "end_ns": end_ns}
            record |= about or {}  # type: ignore[typeddict-item]
            start_ns = end_ns + _GAP_NS
            _scale(record["driver"] or {}, factor * (1 + rng.uniform(-0.004, 0.004)), cell)
            yield here, record


def _scale(driver: dict[str, Any], factor: float, cell: Cell) -> None:
    """Let a repetition have moved so much more, in the same time and with the same CPU time."""
    for side in (driver["sender"], driver["receiver"]):
        if side is None:
            continue
        for part in ("in_window", "total"):
            side[part] = {name: int(count * factor) for name, count in side[part].items()}
            if "messages" in side[part]:
                side[part]["messages"] = side[part]["bytes"] // cell.msg_bytes
        within = side["in_window"]["bytes"]
        side["threads"] = [side["threads"][0] | {"bytes": within}]
    service = driver["sender"]["service_time"]
    for times in (service, driver["sender"]["round_trip"]):
        for name, value in (times or {}).items():
            if name.endswith("_ns") and value is not None:
                times[name] = type(value)(value / factor)
    if (trips := driver["sender"]["round_trip"]) is not None:
        trips["samples"] = int(trips["samples"] * factor)  # as many as there is time for
    if driver["sink"] is not None:
        driver["sink"] = {name: int(count * factor) for name, count in driver["sink"].items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a simulated fleet; return 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("results", type=Path, help="a real run's results")
    parser.add_argument("fleet", type=Path, help="the folder to write")
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--records", type=int, default=400, help="of each host, about")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    real = read_parcel(options.results)
    for merged in make_fleet(real, options.fleet, options.hosts, options.records, options.seed):
        print(merged.into.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
