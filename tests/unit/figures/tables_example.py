"""Small tables with the columns of the workflow's, whose values have the shape of a real run's."""

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from matplotlib.text import Text

from copycost.figures.tables import Drawn, Tables, tables_of
from copycost.wording.numbers import NBSP

SIZES = (256, 1024, 4096, 16384, 65536, 262144, 1048576)
THREADS = (1, 2, 4, 8)
IMPLEMENTATIONS = ("two_copy", "one_copy", "zero_copy")
EVENTS = ("cycles", "ref_cycles", "l1d_load_misses", "llc_load_misses", "cache_misses")
KEYS = ["study", "testbed", "implementation", "msg_bytes", "n_threads"]

Keep = Callable[[str, int, int, int], str]


def always_measured(implementation: str, msg_bytes: int, n_threads: int, rep: int) -> str:
    """Return the status of a repetition on a host where everything works."""
    return "measured"


def example_cells(
    *,
    implementations: Sequence[str] = IMPLEMENTATIONS,
    sizes: Sequence[int] = SIZES,
    threads: Sequence[int] = THREADS,
    repetitions: int = 3,
    counted: Sequence[str] = EVENTS,
    status: Keep = always_measured,
    testbed: str = "veth",
) -> pd.DataFrame:
    """Return one row per repetition, with the columns that figures and `example_summary` use."""
    chance = np.random.default_rng(1)
    rows = []
    ways = enumerate(implementations)
    reps = range(1, repetitions + 1)
    for (place, name), size, n, rep in itertools.product(ways, sizes, threads, reps):
        state = status(name, size, n, rep)
        values = _values(place, name, size, n, chance, counted, state)
        cell = {"implementation": name, "msg_bytes": size, "n_threads": n, "rep": rep}
        rows.append(
            {"study": "streams", "testbed": testbed, **cell, "status": state,
             "reason": None if state == "measured" else "made up for a test",
             "user_mode_only": False, **values}
        )  # fmt: skip
    return pd.DataFrame(rows)


def _values(
    place: int,
    name: str,
    size: int,
    n: int,
    chance: np.random.Generator,
    counted: Sequence[str],
    state: str,
) -> dict[str, object]:
    measured = state == "measured"
    noise = float(chance.normal(1, 0.02))
    fixed_ns, byte_ns = (350 + 40 * place, 0.09) if name != "zero_copy" else (1500, 0.12)
    byte_ns *= 1 - 0.1 * (place == 1)
    message_ns = (fixed_ns + byte_ns * size) * (1 + 0.25 * max(0, n - 2)) * noise
    values: dict[str, object] = {
        "throughput_bits_per_s": 8e9 * size * n / message_ns,
        "service_mean_ns": message_ns,
        "service_median_ns": 0.8 * message_ns,
        "service_p99_ns": 3.0 * message_ns,
        "context_switches_per_message": (0.0 if size < 512 else size / 1e6) * n * noise,
    }
    for side, share in (("sender", 0.6), ("receiver", 0.4), ("both", 1.0)):
        values[f"{side}_cpu_ns_per_byte"] = share * (byte_ns + fixed_ns / size) * noise
        for event, factor in zip(EVENTS, (3.0, 2.8, 0.03, 0.004, 0.006), strict=True):
            value = factor * share * (byte_ns + fixed_ns / size) * noise
            values[f"{side}_{event}_per_byte"] = value if event in counted else np.nan
    values["zc_copied_share"] = 1.0 if name == "zero_copy" else np.nan
    if not measured:
        values = dict.fromkeys(values, np.nan)
    for side in ("sender", "receiver"):
        for event in (*EVENTS, "context_switches"):
            known = event in counted or event == "context_switches"
            values[f"{side}_{event}_status"] = (
                None if not measured else "counted" if known else "not_supported"
            )
    return values


def example_summary(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the long table of medians and intervals (here: the extremes) of `cells`."""
    metrics = [
        name
        for name in cells.columns
        if name.endswith(("_per_byte", "_per_message", "_per_s", "_ns", "_share"))
    ]
    states = cells.assign(
        n_failed=(cells["status"] == "failed").astype("int64"),
        n_skipped=(cells["status"] == "skipped").astype("int64"),
    )
    counts = states.groupby(KEYS)[["n_failed", "n_skipped"]].sum()
    groups = cells.groupby(KEYS)[metrics]
    found = {"n": groups.count(), "median": groups.median()}
    found |= {"low": groups.min(), "high": groups.max()}
    long = {name: table.stack() for name, table in found.items()}
    summary = pd.DataFrame(long).rename_axis([*KEYS, "metric"]).reset_index()
    summary = summary.merge(counts.reset_index(), on=KEYS)
    summary.loc[summary["n"] < 2, ["low", "high"]] = np.nan
    return summary.assign(confidence=0.95)


def tables_from(cells: pd.DataFrame, testbed: str = "veth") -> Tables:
    """Return the tables of one testbed, of these cells."""
    return tables_of(testbed, cells, example_summary(cells))


def example(**choices: object) -> Tables:
    """Return the tables of one testbed; see `example_cells` for the choices.

    Three sizes and two thread counts unless asked otherwise: panels cost time.
    """
    choices = {"sizes": (256, 4096, 65536), "threads": (1, 8)} | choices
    return tables_from(example_cells(**choices))  # type: ignore[arg-type]


def said(drawn: Drawn) -> str:
    """Return all texts on a figure as one line."""
    texts = (text.get_text() for text in drawn.figure.findobj(Text))
    return " ".join(texts).replace("\n", " ").replace(NBSP, " ")
