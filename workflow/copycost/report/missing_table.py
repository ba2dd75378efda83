"""The table of what was not measured, one per condition: a row for each reason."""

from collections.abc import Mapping
from typing import Any

from copycost.report.markdown import escape
from copycost.wording.filters import impl, join_and, sizes


def missing_rows(condition: Mapping[str, Any]) -> list[list[str]]:
    """Return what failed and what was skipped, in Markdown.

    Columns: what became of it, number of repetitions, implementations, sizes, thread counts,
    reason and what helps.
    """
    losses = [(what, loss) for what in ("failed", "skipped") for loss in condition[what]]
    return [
        [
            what,
            str(loss["n"]),
            join_and(map(impl, loss["implementations"])),
            sizes(loss["msg_bytes"]),
            join_and(loss["n_threads"]),
            "; ".join(escape(loss[key]) for key in ("reason", "remedy") if loss[key]),
        ]
        for what, loss in losses
    ]
