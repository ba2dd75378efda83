"""Which files the workflow shall audit: those that `--config` names, else the published runs.

Kept light: it is asked at every start of the workflow.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

KEYS = ("dataset", "mapping", "claims")
"""What ``--config`` may say of an audit: paths."""

PUBLISHED = ("ryzen-7840hs", "i5-10500")
"""The published runs that have the cells of a table; see data/published/sources.yaml."""


def audit_files(config: Mapping[str, object], published: Path) -> dict[str, dict[str, str]]:
    """Return the files of each audit, by what they are, by the name of its report's folder.

    A mapping and claims are there if they are named, or lie beside the dataset. Of the workflow's
    configuration only `KEYS` count; where it names no dataset, the published runs in the folder
    `published` are audited.
    """
    said = {key: str(config[key]) for key in KEYS if config.get(key)}
    for key, path in said.items():
        if not _is_file(path):
            sys.exit(f"--config {key}={path}: there is no such file; give the path of one")
    if "dataset" in said:
        name = re.sub(r"[^A-Za-z0-9.]+", "-", Path(said["dataset"]).stem).strip("-.") or "dataset"
        return {name: _files(said)}
    if said:
        sys.exit(f"--config {next(iter(said))}=...: needs dataset=FILE.csv as well")
    return {name: _files({"dataset": str(published / f"{name}.csv")}) for name in PUBLISHED}


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # a name that is too long, or has a zero byte
        return False


def _files(said: Mapping[str, str]) -> dict[str, str]:
    dataset = Path(said["dataset"])
    beside = {what: dataset.with_name(f"{dataset.stem}.{what}.yaml") for what in KEYS[1:]}
    return {what: str(path) for what, path in beside.items() if path.is_file()} | dict(said)
