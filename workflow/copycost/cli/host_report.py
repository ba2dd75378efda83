"""The ordinary report on one host of a fleet: ``python -m copycost.cli.host_report NAME``.

The host's results are laid out as those of a run, in a folder that is a checkout otherwise, and the
workflow does there what it always does; of rules that measure it has none.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import yaml

from copycost.cli.environment import LAUNCH
from copycost.compare.hosts.host_results import FACTS, FLEET, HostSet, read_sets
from copycost.compare.hosts.privacy import SECTIONS
from copycost.config.cells import LISTS, Cell
from copycost.config.checkout import ROOT, SOURCES
from copycost.config.passes import GIVEN_PATH, write_pass
from copycost.config.sources import usual_tree
from copycost.config.testbeds import kind_of, peer_of, transport_of
from copycost.config.wire import AUTO
from copycost.errors import CopycostError, DataError
from copycost.records.files import write_whole
from copycost.records.record import Record, cell_of, record_text
from copycost.snakefile.messages import STUDIES


def lay_out(one: HostSet) -> Path:
    """Lay a host's results out as a run leaves them; return the folder, which may be there already.

    Raises ParseError or DataError if its configuration or records cannot be used any more.
    """
    folder = one.folder / "run"
    results = folder / "results"
    results.mkdir(parents=True, exist_ok=True)
    for name in SOURCES:
        if name not in ("config.yaml", "run") and not (folder / name).is_symlink():
            (folder / name).symlink_to(ROOT / name)
    cells = [Cell.from_path(str(path)) for path in one.records]
    config = yaml.safe_dump(config_of(one, cells), sort_keys=False)
    if _text(folder / "config.yaml") != config:
        write_whole(config, folder / "config.yaml")
    if _text(folder / "content") == one.content:
        return folder
    placed = []
    shutil.rmtree(results / "raw", ignore_errors=True)
    for record in renumbered(one.read_records()):
        path = folder / cell_of(record).path
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(record_text(record, path), path)
        placed.append(cell_of(record))
    for name in ("host.json", "memory.json"):
        if (one.folder / name).is_file():
            (results / name).write_bytes((one.folder / name).read_bytes())
    write_pass(placed, folder / GIVEN_PATH)
    write_whole(one.content, folder / "content")
    return folder


def renumbered(records: Sequence[Record]) -> Iterator[Record]:
    """Yield records with rounds that count from 1 without gaps; further runs begin far behind."""
    rounds = sorted({record["cell"]["rep"] for record in records})
    number = {rep: place for place, rep in enumerate(rounds, 1)}
    for record in records:
        cell = dict(record["cell"]) | {"rep": number[record["cell"]["rep"]]}
        yield cast("Record", dict(record) | {"cell": cell})


def config_of(one: HostSet, cells: Sequence[Cell]) -> dict[str, Any]:
    """Return our configuration with what the host's says of what was measured there, and how.

    Its lists have the values that its records have: first those that are listed, in their order.
    """
    ours = usual_tree()
    told = one.folder / "config.json"
    theirs = FACTS.read(told) if told.is_file() else {}
    for section in SECTIONS:
        said = theirs.get(section) or {}
        ours[section] |= {key: value for key, value in said.items() if key in ours[section]}
    for section in ("streams", "udp", "round_trips"):
        there = [cell for cell in cells if _section_of(cell) == section]
        for name, key in LISTS.items():
            if there and key in ours[section]:
                had = {getattr(cell, name) for cell in there}
                listed = [value for value in ours[section][key] if value in had]
                ours[section][key] = listed + sorted(had.difference(listed))
        # those over a wire are named by what lies between, and by the machines
        ours[section]["testbeds"] = list(dict.fromkeys(map(kind_of, ours[section]["testbeds"])))
        if not there:
            ours[section]["implementations"] = []
    others = sorted({peer for cell in cells if (peer := peer_of(cell.testbed))})
    if others:
        first, *more = ({"peer": name, "alias": AUTO} for name in others)  # nobody is asked
        ours["wire"] |= first | {"more": more}
    for section in STUDIES:  # which no host hands on
        ours[section]["enabled"] = False
    ours["measure"]["memory_floor"] = (one.folder / "memory.json").is_file()
    return ours


def _section_of(cell: Cell) -> str:
    if cell.study == "streams" and transport_of(cell.testbed) == "datagram":
        return "udp"
    return cell.study


def main(arguments: Sequence[str]) -> int:
    """Write the report on a host; the words behind its name are Snakemake's options."""
    name, *options = arguments
    found, unreadable = read_sets(FLEET)
    sets = {one.name: one for one in found}
    try:
        if name in unreadable:
            raise DataError(f"host={name}: {unreadable[name]}")
        if name not in sets:
            raise DataError(
                f"host={name}: {FLEET} has no such host; there are {', '.join(sets) or 'none'}"
            )
        folder = lay_out(sets[name])
    except CopycostError as error:
        print(f"copycost: {error}", file=sys.stderr)
        return 1
    words = ["report", "--cores", "1", *options]
    return subprocess.run(
        [sys.executable, "-SP", LAUNCH, "snakemake", *words], cwd=folder, check=False
    ).returncode


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
