"""What others have published, compared with a run."""

import math
import re
from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np
import pandas as pd
import yaml

from tools.recompute.document import Table
from tools.recompute.functions import DATA
from tools.recompute.run import THROUGHPUT, Run
from tools.recompute.slots import at_sizes, read

_CELL = ["implementation", "message_bytes", "threads"]
_WORDS = {"faster": 1, "slower": -1}


@cache
def published(name: str) -> pd.Series:
    """Return the throughput of each published cell, by implementation, size and threads [bit/s]."""
    rows = pd.read_csv(DATA / f"published/{name}.csv").dropna(subset=["throughput_gbps"])
    found: pd.Series = rows.set_index(_CELL)["throughput_gbps"] * 1e9
    return found


def condition_for(run: Run, name: str) -> str:
    """Return with which condition a published run is compared: its own path, or else the first."""
    sources = yaml.safe_load((DATA / "published/sources.yaml").read_text(encoding="utf-8"))
    testbed = next(one["testbed"] for one in sources["runs"] if one["name"] == name)
    sections = (run.config.get(name) or {} for name in ("streams", "udp"))
    asked = [testbed, *(each for section in sections for each in section.get("testbeds", []))]
    measured = set(run.streams["condition"])
    return str(next(each for each in asked if each in measured))


def ratios(run: Run, name: str, implementation: str) -> list[float]:
    """Return how many times the published throughput is measured here, cell by cell."""
    rows = run.measured(condition_for(run, name))
    here = rows.groupby(["implementation", "msg_bytes", "n_threads"])[THROUGHPUT].median()
    both = here / published(name).reindex(here.index)
    known: list[float] = both.dropna().loc[[implementation]].tolist()
    return known


def published_row(
    run: Run, _c: str, found: re.Match[str], row: Mapping[str, str], _t: Table
) -> Mapping[str, bool | None]:
    """Check where the first of a pair is faster along the sizes, here and there."""
    name = found[1]
    a, b = re.findall(r"`(\w+)`", row["Pair"])
    there = published(name)
    known = {"Here": True, "There": True, "Threads": True}
    condition = condition_for(run, name)
    cells = run.cells(condition, a, b) if {a, b} <= {*run.implementations(condition)} else {}
    for threads in (int(n) for n in re.findall(r"\d+", row["Threads"])):
        signs = {size: one.seen for (size, n), one in cells.items() if n == threads}
        once = any(one.n == 1 for (_, n), one in cells.items() if n == threads)
        known["Here"] &= _says(row["Here"], signs, once, run.all_sizes)
        faster = {
            int(size): int(np.sign(math.log(there[a, size, n] / there[b, size, n])))
            for who, size, n in there.index
            if who == a and n == threads and (b, size, n) in there.index
        }
        known["There"] &= _says(row["There"], faster, True, [*faster])
    return known


def _says(text: str, signs: Mapping[int, int], once: bool, sizes: Iterable[int]) -> bool:
    """Tell whether a text has these verdicts: ``faster from 16 KiB up; slower at 4 KiB``."""
    if text == "not compared" or not signs:
        return text == "not compared" and not signs
    observed = " (observed once)"
    said = text.removesuffix(observed).split("; ")
    expected = []
    for word, sign in _WORDS.items():
        here = [size for size, one in signs.items() if one == sign]
        if here:
            expected.append((word, *at_sizes(here, signs)))
    told = [
        (word, _kind(rest), read("sizes", rest, sizes))
        for word, _, rest in (part.partition(" ") for part in said)
        if word in _WORDS
    ]
    even = tuple(size for size, one in sorted(signs.items()) if one == 0)
    open_ = [
        found
        for part in said
        if part.startswith("no difference at ") and (found := read("sizes", part, sizes))
    ]
    nothing = "no difference at any size" in said
    return (
        told == expected
        and open_ == ([even] if even and expected else [])
        and nothing == (not expected)
        and text.endswith(observed) == (once and bool(expected))
    )


def _kind(rest: str) -> str:
    return next(word for word in ("at every size", "up to", "from", "at") if rest.startswith(word))
