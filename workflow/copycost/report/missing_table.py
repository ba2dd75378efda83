"""The table of what was not measured: a row for each condition and reason."""

from collections.abc import Iterable, Mapping
from typing import Any

from copycost.report.markdown import code, escape
from copycost.wording.filters import impl, join_and, sizes


def missing_rows(conditions: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """Return what failed and what was skipped, in Markdown.

    Columns: condition, what became of it, number of repetitions, implementations, sizes, thread
    counts, reason and what helps.
    """
    return [
        [
            code(condition["slug"]),
            what,
            str(loss["n"]),
            join_and(map(impl, loss["implementations"])),
            sizes(loss["msg_bytes"]),
            join_and(loss["n_threads"]),
            "; ".join(escape(loss[key]) for key in ("reason", "remedy") if loss[key]),
        ]
        for condition in conditions
        for what in ("failed", "skipped")
        for loss in condition[what]
    ]
