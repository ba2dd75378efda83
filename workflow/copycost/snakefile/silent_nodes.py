"""After a failure of `./run fleet`: says which nodes have written nothing into this folder.

What runs on a node lies in the folder itself, so where that is not shared nothing there can say so.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from copycost.config.peers import Hosts
from copycost.config.structure import from_plain
from copycost.errors import CopycostError
from copycost.snakefile.nodes import chosen_nodes

CONFIG_PATH = Path("results/config.yaml")
LOGS = Path("results/logs/nodes")


def unheard() -> list[str]:
    """Return the nodes that were to be measured and have no log.

    Raises
    ------
    ConfigError, HostError
        If it is not known which nodes these are.
    """
    tree = yaml.safe_load(CONFIG_PATH.read_text(encoding="utf-8"))
    nodes = chosen_nodes(from_plain(tree["hosts"], Hosts).slurm)
    return [node for node in nodes if not (LOGS / f"{node}.log").is_file()]


def said_of(nodes: Sequence[str], folder: Path) -> str:
    """Return a sentence about nodes that have written nothing."""
    return (
        f"run: nothing has come into {folder} from {', '.join(nodes)}: either the job has not begun"
        " there, or this folder is not shared with the nodes, which it must be; ./run fetch "
        "USER@HOST measures hosts that share none."
    )


def main() -> None:
    """Say it, where there is anything to say; what else failed was said before."""
    try:
        nodes = unheard()
    except (OSError, CopycostError):
        return
    if nodes:
        print(said_of(nodes, Path.cwd()), file=sys.stderr)


if __name__ == "__main__":
    main()
