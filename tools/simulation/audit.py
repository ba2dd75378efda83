"""How often the audit's checks say something of tables that were honestly measured."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from copycost.audit.mapping import FileMapping
from copycost.audit.plausibility import Finding, check_plausibility
from copycost.audit.plausibility.finding import Kind, Sureness
from copycost.audit.reader import read_dataset
from tools.simulation.honest_tables import honest_table, printed_table


@dataclass(frozen=True, slots=True)
class Found:
    """In how many tables of a kind, and in what share of them (0 to 1), something is found."""

    tables: str
    finding: str
    n: int
    share: float


def findings_of(table: pd.DataFrame) -> list[Finding]:
    """Return what the checks say of a table, which is written and read as a foreign one."""
    with tempfile.TemporaryDirectory(prefix="copycost_honest_") as folder:
        path = Path(folder, "table.csv")
        table.to_csv(path, index=False)
        return check_plausibility(read_dataset(path, FileMapping()))


def false_alarms(findings: list[Finding]) -> list[Finding]:
    """Return those that say more than that something is missing, few or worth a question."""
    harmless = (Kind.NOT_COUNTED, Kind.WEAK, Kind.INCOMPLETE)
    return [one for one in findings
            if one.sureness is not Sureness.POSSIBLE and one.kind not in harmless]  # fmt: skip


def simulate_all(n_tables: int, seed: int, cells: Path | None = None) -> Iterator[Found]:
    """Yield how often each code is found in tables that are drawn, or cut out of a real table."""
    kinds: dict[str, Callable[[int], pd.DataFrame]] = {"drawn": honest_table}
    if cells is not None:
        real = read_dataset(cells, FileMapping())
        kinds["cut out of a real table"] = lambda each: printed_table(real, each)
    for kind, draw in kinds.items():
        codes: Counter[str] = Counter()
        for each in range(seed, seed + n_tables):
            findings = findings_of(draw(each))
            codes.update({f"{one.kind}: {one.code}" for one in findings})
            if false := false_alarms(findings):
                codes["any that is a false alarm"] += 1
                codes[f"false alarm in table {each}: {', '.join(one.code for one in false)}"] += 1
        yield from (Found(kind, what, n, n / n_tables) for what, n in codes.most_common())
