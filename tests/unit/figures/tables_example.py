"""Tables of one condition of a synthetic run, as figures are drawn from them."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from matplotlib.text import Text
from synthetic import Run, Udp, make_cells

from copycost.analysis.stats.settings import StatisticsSettings
from copycost.analysis.tables import summarise
from copycost.figures.tables import Drawn, Tables, tables_of
from copycost.wording.numbers import NBSP

IMPLEMENTATIONS = ("two_copy", "one_copy", "zero_copy")
EVENTS = ("cycles", "ref_cycles", "l1d_load_misses", "llc_load_misses", "cache_misses")
_CELL = ["implementation", "msg_bytes", "n_threads", "rep"]

Keep = Callable[[str, int, int, int], str]
"""The status of a repetition, by its cell and number."""


def example_cells(
    *,
    implementations: Sequence[str] = IMPLEMENTATIONS,
    sizes: Sequence[int] = (256, 4096, 65536),
    threads: Sequence[int] = (1, 8),
    repetitions: int = 3,
    counted: Sequence[str] = EVENTS,
    status: Keep = lambda *_: "measured",
    testbed: str = "veth",
) -> pd.DataFrame:
    """Return one row per repetition; panels cost time, so sizes and thread counts are few."""
    udp = Udp(implementations, (testbed,), sizes, threads, ("hot",)) if testbed == "sink" else None
    run = Run(
        implementations, () if udp else (testbed,), sizes, threads, repetitions, counters=True,
        udp=udp, strange=implementations,
    )  # fmt: skip
    cells = make_cells(run)
    for event in set(EVENTS) - set(counted):
        cells[[f"{side}_{event}_per_byte" for side in ("sender", "receiver", "both")]] = np.nan
        cells[[f"{side}_{event}_status" for side in ("sender", "receiver")]] = "not_supported"
    # small messages wake nobody up
    cells.loc[cells["msg_bytes"] < 512, "context_switches_per_message"] = 0.0
    cells["status"] = [status(*cell) for cell in cells[_CELL].itertuples(index=False)]
    values = [name for name in cells.select_dtypes("float") if name not in _CELL]
    cells.loc[cells["status"] != "measured", values] = np.nan
    return cells


def example_summary(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the summary of some cells."""
    return summarise(cells, StatisticsSettings(resamples=200))


def tables_from(cells: pd.DataFrame, testbed: str = "veth") -> Tables:
    """Return the tables of one testbed, of these cells."""
    return tables_of(testbed, cells, example_summary(cells))


def example(**choices: object) -> Tables:
    """Return the tables of one testbed; see `example_cells` for the choices."""
    return tables_from(example_cells(**choices))  # type: ignore[arg-type]


def said(drawn: Drawn) -> str:
    """Return all texts on a figure as one line."""
    texts = (text.get_text() for text in drawn.figure.findobj(Text))
    return " ".join(texts).replace("\n", " ").replace(NBSP, " ")
