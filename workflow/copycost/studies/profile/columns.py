"""The columns of the tables of shares of the study `profile`."""

from copycost.hosts.parties import PARTIES
from copycost.records.column import Column, Definition, fact
from copycost.records.columns import CELLS
from copycost.studies.profile.table_columns import KEY, QUANTITIES, SHARE_TABLES

_BY_NAME = {column.name: column for column in CELLS.columns}
_GROUP = "Shares and costs"
# shares are quotients of sums of weights, which come out above 1 by a rounding
_WHOLE = 1 + 1e-9

_ABOUT = {
    "call_path": fact("call_path", "str", "", "Functions from the outermost on, joined by ;",
                      _GROUP),
    "depth": fact("depth", "int64", "count", "Functions on the path", _GROUP),
    "function": fact("function", "str", "",
                     "Function; of the kernel with _[k], inlined with _[i] at its end", _GROUP),
    "category": fact("category", "str", "", "What the function does", _GROUP),
    "box": fact("box", "str", "", "Where on the way of a message it lies", _GROUP),
}  # fmt: skip


def _quantities() -> tuple[Column, ...]:
    columns = []
    for quantity in QUANTITIES:
        highest = _WHOLE if quantity.is_share else None
        about = quantity.about[:1].upper() + quantity.about[1:]
        for end, words in (
            ("", f"{about}; median of the repetitions"),
            ("_low", f"Lower end of the interval of {quantity.name}"),
            ("_high", "Upper end of the same"),
        ):
            name = f"{quantity.name}{end}"
            columns.append(Column(name, "float64", quantity.unit, words, _GROUP, highest=highest))
    return tuple(columns)


def _definition(name: str) -> Definition:
    about = tuple(_ABOUT[column] for column in SHARE_TABLES[name])
    return Definition(
        f"table {name}",
        (
            *(_BY_NAME[column] for column in KEY),
            Column("side", "str", "", "Whose samples", _GROUP, nullable=False, always=True,
                   allowed=PARTIES),
            *about,
            fact("n", "int64", "count", "Repetitions with samples of the side", _GROUP),
            *_quantities(),
        ),
        key=(*KEY, "side", about[0].name),
        sorted_by=(*KEY, "side"),
    )  # fmt: skip


SHARES = {name: _definition(name) for name in SHARE_TABLES}
"""By table."""
