"""Prints what `./run fleet` is about, ``local`` or ``slurm`` or both: ``python -m ... FILE...``."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

CONFIG = Path("config.yaml")


def places(files: Sequence[Path]) -> list[str]:
    """Return `hosts.where` of the last file that states it; checked where the workflow begins."""
    found: list[str] = []
    for path in files:
        content: Any = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        hosts = content.get("hosts") if isinstance(content, dict) else None
        where = hosts.get("where") if isinstance(hosts, dict) else None
        found = [str(place) for place in where] if isinstance(where, list) else found
    return found


if __name__ == "__main__":
    print(*places([CONFIG, *map(Path, sys.argv[1:])]))
