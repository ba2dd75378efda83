"""What the chapter on round trips says: percentiles, ratios to the baseline, what was lost."""

from collections.abc import Callable

from copycost.wording.filters import impl, ratio, size, span
from copycost.wording.markdown import Table, grouped, tabulate
from copycost.wording.values import Facts, interval, median, of_cells, place

# the appendix has all
_COMPARED = {"p50_ns": "median", "p99_ns": "99th"}
_TAIL = {"p99_ns": "p99", "p999_ns": "p99.9", "max_ns": "Maximum"}


def percentiles(condition: Facts) -> Table:
    """Return the percentiles of a condition, in µs."""

    def of(key: str) -> Callable[[Facts], str]:
        return lambda row: median(row[key], 1e-3) if row[key] else ""

    columns = {
        ">p50": of("p50_ns"),
        ">Interval": lambda row: interval(row["p50_ns"], 1e-3),
        **{f">{title}": of(key) for key, title in _TAIL.items()},
        ">n": lambda row: str(row["n"]),
    }
    return of_cells(condition["rows"], columns, condition["labels"])


def compared(trips: Facts) -> Table:
    """Return ratios to the baseline: a row per place, way, threads and percentile, a column a size.

    Those whose interval leaves out 1 are in bold.
    """
    rows: list[Facts] = []
    sizes = set()
    for one in trips["conditions"]:
        found: dict[tuple[int, int, str], dict[int, str]] = {}
        for row in one["ratios"]:
            if row["percentile"] in _COMPARED:
                way = one["implementations"].index(row["implementation"])
                key = (row["n_threads"], way, row["percentile"])
                found.setdefault(key, {})[row["msg_bytes"]] = _ratio(row)
                sizes.add(row["msg_bytes"])
        for (n_threads, way, percentile), at in sorted(found.items()):
            cell = {"n_threads": n_threads, "with": one["implementations"][way], "at": at}
            rows.append({"where": place(one), "percentile": _COMPARED[percentile], **cell})

    def at_size(msg_bytes: int) -> Callable[[Facts], str]:
        return lambda row: row["at"].get(msg_bytes, "")

    columns = {
        "Where": lambda row: row["where"],
        "With": lambda row: impl(row["with"]),
        ">Threads": lambda row: str(row["n_threads"]),
        "Percentile": lambda row: row["percentile"],
        **{f">{size(msg_bytes)}": at_size(msg_bytes) for msg_bytes in sorted(sizes)},
    }
    return grouped(tabulate(rows, columns))


def _ratio(row: Facts) -> str:
    text = ratio(row["value"])
    if row["low"] is None:
        return text
    shown = f"**{text}**" if row["sign"] != 0 else text
    return f"{shown} ({span(row['low'], row['high'], ratio)})"
