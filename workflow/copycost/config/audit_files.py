"""Which files the workflow shall audit: those that `--config` names, else the published runs.

Kept light: it is asked at every start of the workflow.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

KEYS = ("dataset", "mapping", "claims")
"""What ``--config`` may say of an audit: paths."""

PUBLISHED = ("ryzen-7840hs", "i5-10500")
"""The published runs that have the cells of a table; see data/published/sources.yaml."""


@dataclass(frozen=True, slots=True)
class AuditFiles:
    """The files of one audit; mapping and claims are None where there are none."""

    dataset: str
    mapping: str | None
    claims: str | None

    def as_inputs(self) -> dict[str, str]:
        """Return the files that there are, by what they are."""
        files = {"dataset": self.dataset, "mapping": self.mapping, "claims": self.claims}
        return {what: path for what, path in files.items() if path is not None}


def audit_files(config: Mapping[str, object], published: Path) -> dict[str, AuditFiles]:
    """Return the files of each audit by the name of its report's folder.

    Of the workflow's configuration only `KEYS` count; where it names no dataset, the published runs
    in the folder `published` are audited.
    """
    said = {key: str(config[key]) for key in KEYS if config.get(key)}
    for key, path in said.items():
        if not _is_file(path):
            sys.exit(f"--config {key}={path}: there is no such file; give the path of one")
    if "dataset" in said:
        dataset = Path(said["dataset"])
        name = re.sub(r"[^A-Za-z0-9.]+", "-", dataset.stem).strip("-.") or "dataset"
        mapping, claims = (_of(said, dataset, what) for what in ("mapping", "claims"))
        return {name: AuditFiles(said["dataset"], mapping, claims)}
    if said:
        sys.exit(f"--config {next(iter(said))}=...: needs dataset=FILE.csv as well")
    files = {}
    for name in PUBLISHED:
        run = published / f"{name}.csv"
        files[name] = AuditFiles(str(run), _of({}, run, "mapping"), _of({}, run, "claims"))
    return files


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # a name that is too long, or has a zero byte
        return False


def _of(said: Mapping[str, str], dataset: Path, what: str) -> str | None:
    """Return the file that is named, else the one beside the dataset, if there is one."""
    beside = dataset.with_name(f"{dataset.stem}.{what}.yaml")
    return said.get(what) or (str(beside) if beside.is_file() else None)
