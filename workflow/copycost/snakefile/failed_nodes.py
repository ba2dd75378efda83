"""After a failure of `./run fleet`: says of each node without results why, and what it brought.

What runs on a node lies in the folder itself, so where that is not shared nothing there can say so.
"""

import re
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from copycost.compare.hosts.import_archive import read_parcel
from copycost.config.config import Config
from copycost.config.grid import Grid
from copycost.errors import CopycostError
from copycost.snakefile.retry import saved_config
from copycost.snakefile.slurm import chosen_nodes
from copycost.wording.words import plural

NODES = Path("results/nodes")
LOGS = Path("results/logs/nodes")
SLURM_LOGS = Path(".snakemake/slurm_logs/rule_measure_node")
"""Of Snakemake's plugin for Slurm: a folder per node, with a log per job."""

_N_LINES = 3
# slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***
_ENDED = re.compile(r"\*\*\* (?:JOB|STEP) .* CANCELLED AT \S+(?: DUE TO ([A-Z ]+?))? \*\*\*")


def said_of_failed(config: Config) -> Iterator[str]:
    """Yield a sentence about each node that was to be measured and has not brought all.

    Raises ConfigError or HostError if it is not known which nodes these are.
    """
    failed = [node for node in chosen_nodes(config.hosts) if not (NODES / f"{node}.zip").is_file()]
    silent = [node for node in failed if not (LOGS / f"{node}.log").is_file()]
    if silent:
        yield (
            f"nothing has come into {Path.cwd()} from {', '.join(silent)}: either the job has not "
            "begun there, or this folder is not shared with the nodes, which it must be; ./run "
            "fetch USER@HOST measures hosts that share none."
        )
    wanted = plural(Grid.of(config).n_repetitions(config), "repetition")
    for node in (node for node in failed if node not in silent):
        log = LOGS / f"{node}.log"
        with log.open(encoding="utf-8", errors="replace") as lines:
            last = "".join(f"\n    {line.rstrip()}" for line in deque(lines, _N_LINES))
        yield (
            f"{node}: {_end_of(node)}; brought {_n_brought(node)} of {wanted}, "
            f"and the same command measures the rest. The end of {log}:{last}"
        )


def _end_of(node: str) -> str:
    """Return how the last job of a node ended, as Slurm noted in the job's own log."""
    logs = sorted((SLURM_LOGS / node).glob("*.log"), key=lambda path: path.stat().st_mtime_ns)
    found = [_ENDED.search(path.read_text("utf-8", errors="replace")) for path in logs[-1:]]
    for end in filter(None, found):
        return f"Slurm ended its job ({(end[1] or 'cancelled').lower()})"
    return "its job failed"


def _n_brought(node: str) -> int:
    """Return how many repetitions a part of a node's results holds [count]; 0 of a damaged one."""
    part = NODES / f"{node}.part.zip"
    try:
        return len(read_parcel(part).records) if part.is_file() else 0
    except CopycostError:
        return 0  # merging it says why


def main() -> None:
    """Say it, where there is anything to say; what else failed was said before."""
    config = saved_config()
    with suppress(OSError, CopycostError):
        for said in said_of_failed(config) if config else ():
            print(f"run: {said}", file=sys.stderr)


if __name__ == "__main__":
    main()
