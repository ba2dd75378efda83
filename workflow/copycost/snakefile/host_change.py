"""Whether the results are of another host than this one, and what to say then.

Which host they are of stands in their description, results/host.json. What has to be measured again
there follows from Snakemake's notes: the identity of the host is a parameter of the rule that
describes it. Results that came from elsewhere without these notes are never mixed with ours.
Where all is measured again, the earlier results go to the fleet's folder before.
"""

import json
from pathlib import Path

from copycost.errors import CopycostError
from copycost.hosts.facts.identity import host_identity
from copycost.wording.words import changes_between

HOST_PATH = Path("results/host.json")


def remark(*, described_anew: bool, measures: bool, earlier: str = "") -> str | None:
    """Return a sentence where the results are of another host, None where they are of this one.

    It depends on whether the run will describe the host anew, on which every cell depends, whether
    it will measure anything, and what becomes of the earlier results then, a sentence of
    `keep_earlier`.
    """
    changes = changes_since(HOST_PATH)
    if not changes:
        return None
    said = f"copycost: this is not the host of the earlier results ({'; '.join(changes)})"
    if described_anew:
        return f"{said}, so every cell is measured again. {earlier}".rstrip()
    if measures:
        return f"{said}; {_remedy('so that this host is measured alone')}"
    return f"{said}, and they stay as they are; {_remedy('to measure this host')}"


def keep_earlier(*, would: bool) -> str:
    """Put the results so far among the hosts of the fleet; return what to say of that.

    Nothing is done, and nothing said, without measured repetitions of streams or round trips, or
    where they are of this host. With `would`, it only says what a run would do.
    """
    # Imported here: the records of most runs are of this host.
    from copycost.compare.hosts.archive_reader import STUDIES
    from copycost.compare.hosts.host_results import FLEET
    from copycost.compare.hosts.import_archive import read_parcel
    from copycost.compare.hosts.merging import merge
    from copycost.snakefile.outcomes import outcomes

    raw = HOST_PATH.parent / "raw"
    records = (path for study in STUDIES for path in (raw / study).rglob("rep=*.json"))
    if not changes_since(HOST_PATH) or not any(
        one.status == "measured" for one in outcomes(records)
    ):
        return ""
    if would:
        return f"The earlier streams and round trips would be kept in {FLEET}."
    try:
        into = merge(read_parcel(HOST_PATH.parent), FLEET, update=True).into
    except (CopycostError, OSError) as error:
        return f"The earlier results cannot be kept, and are overwritten: {error}"
    return f"The earlier streams and round trips are kept in {into.folder}."


def changes_since(path: Path) -> list[str]:
    """Return what tells this host from the one that a file describes; nothing without a file."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))["identity"]
        return changes_between(known, host_identity())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []  # no earlier run, or a file that the rule has to write again anyway


def _remedy(why: str) -> str:
    return f"remove {HOST_PATH} {why}, or use another clone"
