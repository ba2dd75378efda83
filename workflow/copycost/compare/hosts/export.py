"""The results of this host as an archive that can be handed on."""

import io
import json
import zipfile
from pathlib import Path

from copycost.checkout import version
from copycost.compare.hosts.host_results import EXPORT, EXPORT_VERSION
from copycost.compare.hosts.import_archive import Parcel
from copycost.records.files import write_bytes_whole
from copycost.records.record import SCHEMA_VERSION, cell_of, record_text
from copycost.studies.memory.record import memory_text

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


def write_archive(parcel: Parcel, path: Path) -> None:
    """Write the archive of a host's results, all of it or nothing.

    Raises
    ------
    DataError
        If it cannot be written.
    """
    write_bytes_whole(archive_of(parcel), path)
