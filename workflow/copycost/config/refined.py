"""The cells that are added to a grid: what the second pass measures, and what it is kept in.

Chosen by `copycost.analysis.refine`; apart from it, so that whoever only needs the paths of records
does not wait for the statistics.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from copycost.config.config import Config
from copycost.config.grid import Grid
from copycost.grid.cells import Cell
from copycost.grid.conditions import Condition
from copycost.wording.plurals import plural
from copycost.wording.sizes import format_size

ADDED_PATH = Path("results/refine/added.json")


@dataclass(frozen=True, slots=True, order=True)
class Added:
    """A size that is added for one comparison, and why.

    Attributes
    ----------
    testbed, working_set, receiver, placement
        The condition.
    n_threads
        Connections [count].
    implementation, baseline
        What is compared; both are measured.
    msg_bytes
        The size [bytes].
    outcome
        What the first pass says of the comparison.
    """

    testbed: str
    working_set: str
    receiver: str
    placement: str
    n_threads: int
    implementation: str
    baseline: str
    msg_bytes: int
    outcome: str

    def cells(self, rep: int) -> tuple[Cell, Cell]:
        """Return a repetition of each of the two cells."""
        first, second = (
            Cell(
                "streams",
                self.testbed,
                name,
                self.msg_bytes,
                self.n_threads,
                self.working_set,
                self.receiver,
                self.placement,
                rep,
            )
            for name in (self.implementation, self.baseline)
        )
        return first, second


def write_added(added: Sequence[Added], path: Path) -> None:
    """Write the sizes that are added."""
    text = json.dumps({"schema_version": 1, "added": [asdict(each) for each in added]}, indent=1)
    path.write_text(f"{text}\n", encoding="utf-8")


def read_added(path: Path) -> list[Added]:
    """Return the sizes that `write_added` wrote."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return [Added(**each) for each in content["added"]]


def added_paths(added: Iterable[Added], config: Config) -> list[str]:
    """Return the paths of the records of all cells that are added, each once, sorted."""
    cells = {
        cell
        for each in added
        for rep in range(1, config.repetitions(each.testbed) + 1)
        for cell in each.cells(rep)
    }
    return [cell.path for cell in sorted(cells)]


def describe_added(added: Sequence[Added], n_records: int) -> str:
    """Return what is added in words, grouped by comparison."""
    if not added:
        return "copycost: no sizes are added: no crossover of the first pass is open."
    groups: dict[str, list[str]] = {}
    for each in added:
        condition = Condition(each.testbed, each.working_set, each.receiver, each.placement).slug
        threads = plural(each.n_threads, "thread")
        name = f"{condition}, {threads}, {each.implementation} against {each.baseline}"
        groups.setdefault(name, []).append(format_size(each.msg_bytes))
    where = "; ".join(f"{name}: {', '.join(sizes)}" for name, sizes in groups.items())
    return f"copycost: sizes around open crossovers, {n_records} repetitions more: {where}."


def all_paths(config: Config) -> list[str]:
    """Return the paths of all records that a configuration asks for, as far as they are known.

    Which cells are added is known after the first pass.
    """
    paths = Grid.of(config).paths()
    if config.refine.enabled and ADDED_PATH.is_file():
        paths += added_paths(read_added(ADDED_PATH), config)
    return list(dict.fromkeys(paths))
