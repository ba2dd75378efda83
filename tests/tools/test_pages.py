"""Pages that tools write, and figures in pages that tools simulated, are as they are now."""

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tools.document_implementations import implementations_page

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_on_implementations_is_what_their_sources_say() -> None:
    assert (DOCS / "implementations.md").read_text(encoding="utf-8") == implementations_page()


def table(name: str) -> pd.DataFrame:
    return pd.read_csv(DOCS / f"simulation_{name}.csv")


def crossovers(part: str, whole: str, query: str) -> float:
    """Return the share of crossovers.csv, of the rows that a query picks [%]."""
    rows = table("crossovers").query(query)
    return 100.0 * float(rows[part].sum() / rows[whole].sum())


def shares(start: str, query: str = "True") -> "pd.Series[float]":
    rows = table("shares").query(query)
    rows = rows[rows["what"].str.startswith(start)]
    return 100.0 * rows["n_yes"] / rows["n_runs"]


NO_DRIFT = "noise != 'drift (AR 0.6)'"
DRIFT = "noise == 'drift (AR 0.6)'"
CLAIMS: dict[str, Callable[[], float]] = {
    r"99\.6 % of 36,134 brackets": lambda: crossovers("n_held", "n_named", NO_DRIFT),
    r"the worst truth 97\.2 %": lambda: crossovers(
        "n_held", "n_named", f"{NO_DRIFT} and truth == 'bends at L1 and L2' and n_sizes == 10"
    ),
    r"drift 96\.7 %": lambda: crossovers("n_held", "n_named", DRIFT),
    r"0\.4 % of the runs report a shape": lambda: crossovers(
        "n_claimed", "n_runs", f"{NO_DRIFT} and truth == 'lines, 1 to 2 % apart'"
    ),
    r"83\.0 % with two modes": lambda: shares(
        "all cells alike: interval that", "noise == 'two modes of one side'"
    ).min(),
    r"63\.5 % with drift": lambda: shares("all cells alike: interval that", DRIFT).min(),
    r"39\.5 % \(two modes, 3\)": lambda: shares(
        "all cells alike: interval of one", NO_DRIFT
    ).min(),
    r"90\.9 % with one start": lambda: shares(
        "1 start ", "noise == 'two modes of one side' and n_rounds == 3"
    ).min(),
    r"up to \*\*11\.0 %\*\*": lambda: 100 * table("decisions")["wrong"].max(),
    r"at most 2\.0 % of the runs of any kind": lambda: 100 * table("groups")["wrong"].max(),
    r"1\.0 % where `two_copy` alone": lambda: 100 * table("unexpected")["share"].max(),
    r"1\.6 % of all": lambda: 100 * table("claims")["wrong"].mean(),
    r"at most 6\.0 % of any of 222": lambda: 100 * table("claims")["wrong"].max(),
    r"at most 4\.5 % of verdicts": lambda: 100 * table("stopping").query("time > 5")["here"].max(),
    r"16\.2 % with plain": lambda: 100 * table("stopping")["again"].max(),
    r"at most 5\.2 % of the runs with": lambda: 100 * table("modes").query(
        "what == 'false alarm' and not kind.str.contains('100|two in five|Laplace|log-n')"
    )["share"].max(),
    r"up to \*\*15\.7 %\*\*": lambda: 100 * table("modes").query("what == 'false alarm'")[
        "share"
    ].max(),
    r"alone \| \*\*100\.0 %\*\*": lambda: 100 * table("between_runs")["cells"].max(),
    r"allowed for \| \*\*48\.5 %\*\*": lambda: 100 * table("between_runs").query(
        "kind == 'one run each, runs differ twice as much'"
    )["cells"].max(),
    r"as few as \*\*78\.5 %\*\*": lambda: 100 * table("across_hosts")["spread"].min(),
    r"86\.0 % \(two groups, 4 hosts\)": lambda: 100 * table("across_hosts")["mean"].min(),
    r"89\.7 % \(heavy tails": lambda: 100 * table("across_hosts")["following"].min(),
}  # fmt: skip


@pytest.mark.parametrize("words", CLAIMS)
def test_a_figure_is_in_the_table_behind_it(words: str) -> None:
    pages = ("method", "between_runs", "across_hosts")
    text = "\n".join((DOCS / f"{name}.md").read_text(encoding="utf-8") for name in pages)
    found = re.search(words.replace(" ", r"\s+"), text)
    assert found is not None
    (percent,) = re.findall(r"(\d+\.\d)\s%", found[0])
    assert f"{CLAIMS[words]():.1f}" == percent
