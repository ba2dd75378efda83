"""What a comparison prints: the verdicts, the cells that stand, and what else differs."""

import textwrap
from collections.abc import Iterator

from copycost.analysis.json_values import Facts
from copycost.compare.runs.tables import fill, gate_line, verdict_line
from copycost.wording.filters import exact_size, ratio
from copycost.wording.numbers import NBSP
from copycost.wording.words import plural

WIDTH = 80
_MOST = 10


def summary_lines(facts: Facts) -> list[str]:
    """Return the lines, of at most 80 columns; a folder's name is never broken."""
    said = fill(
        "between_runs.txt.j2", compared=facts, gates=map(gate_line, facts["gates"]),
        verdicts={q["name"]: verdict_line(q) for q in facts["quantities"]},
    )  # fmt: skip
    lines: list[str] = []
    for line in said.splitlines():
        name, mark, _ = line.partition(" cells of ")
        if mark and name == "##":
            lines += _standing(facts, line.removeprefix("## cells of "))
        else:
            lines += _wrapped(line)
    return lines


def _wrapped(line: str) -> list[str]:
    # a number keeps its unit: only then do the spaces between them become plain ones
    wrapped = textwrap.wrap(
        line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return [part.replace(NBSP, " ") for part in wrapped]


def _standing(facts: Facts, quantity: str) -> Iterator[str]:
    """Yield a line per cell that stands, worst first."""
    found = next(one for one in facts["quantities"] if one["name"] == quantity)
    standing = [cell for cell in found["cells"] if cell["sign"]]
    standing.sort(key=lambda cell: (cell["better"], cell["p_holm"]))
    for cell in standing[:_MOST]:
        where = (
            f"{cell['condition']} {cell['implementation']} {exact_size(cell['msg_bytes'])} x "
            f"{plural(cell['n_threads'], 'thread')}"
        ).replace(NBSP, " ")
        span = f"{ratio(cell['ratio'])} ({ratio(cell['low'])} to {ratio(cell['high'])})"
        yield f"  {cell['verdict']:14} {where:40} {span}"
    if len(standing) > _MOST:
        yield f"  and {len(standing) - _MOST} more, in the report"
