"""Tables of a condition with a row per cell, which the chapters on testbeds of their own share."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from copycost.report.markdown import Column
from copycost.report.results_table import NONE
from copycost.wording.filters import impl, significant, size

Facts = Mapping[str, Any]
Table = tuple[list[Column], list[list[str]]]


def table_by_cell(
    cells: Sequence[Facts], titles: Sequence[str], fields: Callable[[Facts], list[str]]
) -> Table:
    """Return columns and rows: size, threads where there are several, implementation, and fields.

    Parameters
    ----------
    titles, fields
        Of the columns behind these, and what stands in them for a cell.
    """
    several = len({cell["n_threads"] for cell in cells}) > 1
    columns = [
        Column("Message"),
        *([Column("Threads", "right")] if several else []),
        Column("Implementation"),
        *(Column(title, "right") for title in titles),
    ]
    in_order = sorted(cells, key=lambda cell: (cell["msg_bytes"], cell["n_threads"]))
    rows = []
    for at, members in groupby(in_order, lambda cell: (cell["msg_bytes"], cell["n_threads"])):
        for index, cell in enumerate(members):
            head = [size(at[0]), *([str(at[1])] if several else [])]
            start = head if index == 0 else [""] * len(head)
            rows.append([*start, impl(cell["implementation"]), *fields(cell)])
    return columns, rows


def median(found: Facts | None, scale: float = 1.0) -> str:
    """Return a median in words, a mark where there is none."""
    return significant(found["median"] * scale) if found else NONE
