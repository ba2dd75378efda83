"""The records of cells that are chosen while the workflow runs, as inputs of rules."""

from pathlib import Path
from typing import Any

from copycost.config.config import Config
from copycost.config.refined import added_paths, read_added


def with_added_records(paths: list[str], checkpoints: Any, config: Config) -> Any:  # noqa: ANN401
    """Return records as a rule's input: `paths`, and those of added cells once they are known.

    Parameters
    ----------
    paths
        The records of the grid.
    checkpoints
        Snakemake's; asking it for the added cells has Snakemake wait until they are chosen.
    """
    if not config.refine.enabled:
        return paths

    def with_added(_wildcards: object) -> list[str]:
        chosen = Path(checkpoints.choose_sizes.get().output.added)
        added = added_paths(read_added(chosen), config)
        return list(dict.fromkeys([*paths, *added]))

    return with_added
