"""The command ``export``: this host's results in, an archive that can be handed on out."""

import argparse
import io
import json
import sys
import zipfile
from pathlib import Path

from copycost.compare.hosts.host_results import EXPORT, EXPORT_VERSION
from copycost.compare.hosts.import_archive import Parcel, read_parcel
from copycost.compare.hosts.privacy import LEFT_OUT_IN_WORDS, require_name
from copycost.config.checkout import version
from copycost.records.files import write_bytes_whole
from copycost.records.record import SCHEMA_VERSION, cell_of, record_text
from copycost.studies.memory.record import memory_text
from copycost.wording.words import plural

HELP = "hand this host's results on to others"

DESCRIPTION = f"""\
Write the results of this host to an archive that others merge with theirs (./run merge). It has the
records of streams and round trips, what the host is, what a copy of memory costs there, and the
configuration; without {LEFT_OUT_IN_WORDS}."""

EPILOG = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE.zip",
        help="where it goes, - for standard output (default: copycost_NAME.zip)")  # fmt: skip
    add("--alias", metavar="NAME", help="what this host shall be called (default: hosts.alias of "
        "config.yaml, else a name made of what it is)")  # fmt: skip
    add("--results", type=Path, default=Path("results"), metavar="FOLDER", help="default: results")


def run(options: argparse.Namespace) -> int:
    """Write the archive, all of it or nothing, and say what it holds."""
    alias = require_name(options.alias, "--alias") if options.alias else None
    parcel = read_parcel(options.results, alias)
    if options.file == "-":
        sys.stdout.buffer.write(archive_of(parcel))
        return 0
    path = Path(options.file or f"copycost_{parcel.name}.zip")
    write_bytes_whole(archive_of(parcel), path)
    print(f"{path}: {plural(len(parcel.records), 'record')} of {parcel.name},"
          f" without {LEFT_OUT_IN_WORDS}")  # fmt: skip
    if parcel.n_elsewhere:
        print(f"left out: {plural(parcel.n_elsewhere, 'record')} of other states of this host")
    return 0


_DATE = (1980, 1, 1, 0, 0, 0)  # the same results are the same bytes


def archive_of(parcel: Parcel) -> bytes:
    """Return the archive of a host's results."""
    said = {
        "format_version": EXPORT_VERSION, "record_version": SCHEMA_VERSION, "copycost": version(),
        "name": parcel.name, "n_records": len(parcel.records),
    }  # fmt: skip
    files = {
        "export.json": EXPORT.text(said, "export.json"),
        "host.json": json.dumps(parcel.host, indent=1, sort_keys=True),
        "config.json": json.dumps(parcel.config, indent=1, sort_keys=True),
    }
    if parcel.memory is not None:
        files["memory.json"] = memory_text(parcel.memory, "memory.json")
    for record in parcel.records:
        name = cell_of(record).path.removeprefix("results/")
        files[name] = record_text(record, name)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text, zipfile.ZIP_DEFLATED, 6)
    return content.getvalue()
