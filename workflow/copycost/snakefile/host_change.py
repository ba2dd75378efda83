"""Whether the results are of another host than this one, and what to say then.

Which host they are of stands in their description, results/host.json. What has to be measured again
there follows from Snakemake's notes: the identity of the host is a parameter of the rule that
describes it. Results that came from elsewhere without these notes are never mixed with ours.
"""

import json
from pathlib import Path

from copycost.hosts.facts.identity import host_identity
from copycost.wording.changes import changes_between

HOST_PATH = Path("results/host.json")


def remark(*, described_anew: bool, measures: bool) -> str | None:
    """Return a sentence where the results are of another host, None where they are of this one.

    Parameters
    ----------
    described_anew
        Whether the run will describe the host anew, on which every cell depends.
    measures
        Whether it will measure anything.
    """
    changes = changes_since(HOST_PATH)
    if not changes:
        return None
    said = f"copycost: this is not the host of the earlier results ({'; '.join(changes)})"
    if described_anew:
        return f"{said}, so every cell is measured again."
    if measures:
        return f"{said}; {_remedy('so that this host is measured alone')}"
    return f"{said}, and they stay as they are; {_remedy('to measure this host')}"


def changes_since(path: Path) -> list[str]:
    """Return what tells this host from the one that a file describes; nothing without a file."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))["identity"]
        return changes_between(known, host_identity())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []  # no earlier run, or a file that the rule has to write again anyway


def _remedy(why: str) -> str:
    return f"remove {HOST_PATH} {why}, or use another clone"
