"""The sheet a figure stands on: panels between a legend above or beside and a note below."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from pandas.api.types import is_numeric_dtype

from copycost.figures.markers import Family, way_styles
from copycost.figures.style import WIDTH_CM
from copycost.figures.tables import Legend
from copycost.figures.text import EMULATED_NOTE, LABEL_PT, put_words, text_width_cm, wrap

_BESIDE_CM = 4.5
_BESIDE_TEXT_CM = 3.2
_BESIDE_PT = 7.6
_BESIDE_ROW_CM = 0.325
_BESIDE_GAP_CM = 0.12
_WRAP_WIDE = 6


class Panel(NamedTuple):
    """One panel of a sheet, with its number in reading order, and the points that belong into it.

    The lines of a family are to be followed; those of others stand behind as context.
    """

    place: int
    axes: Axes
    data: pd.DataFrame
    family: Family


@dataclass(frozen=True, slots=True)
class Sheet:
    """A figure with a grid of panels, one per value of a column of its data, or of two.

    Where there are too many implementations for one panel, the rows are their families. The width
    is that inside one panel's axes, about; the height is that of a row with titles and ticks.
    """

    figure: Figure
    contents: tuple[Panel, ...]
    n_columns: int
    panel_width_cm: float
    row_height_cm: float

    @property
    def families(self) -> tuple[Family, ...]:
        """Return the families in the order of their rows; one, where nothing is crowded."""
        return tuple(dict.fromkeys(panel.family for panel in self.contents))

    @property
    def context_note(self) -> str:
        """Return the sentence that explains the grey lines, where there are any."""
        return "Grey lines: the other implementations." if len(self.families) > 1 else ""

    @property
    def panel_height_cm(self) -> float:
        """Return the height inside one panel's axes, about."""
        return self.row_height_cm - 1.0

    def is_top(self, panel: Panel) -> bool:
        """Tell whether a panel needs a title: below another family's it would say the same."""
        return panel.family == self.families[0]

    def panels(self) -> Iterator[Panel]:
        """Return the panels that have points, in reading order."""
        return (panel for panel in self.contents if len(panel.data))

    def label(self, place: int, x_label: str, y_label: str) -> None:
        """Label the axes of panel number `place` where no neighbour says it already."""
        axes, last = self.contents[place].axes, len(self.contents) - 1
        axes.set(xlabel="", ylabel="")
        if place % self.n_columns == 0:
            # A label that is longer than its axis puts the unit on a second line.
            long = text_width_cm(y_label, LABEL_PT) > self.panel_height_cm
            axes.set_ylabel(y_label.replace(" [", "\n[") if long else y_label)
        if place // self.n_columns == last // self.n_columns:
            axes.set_xlabel(x_label)
        elif (last + 1) % self.n_columns == 0:
            axes.tick_params(labelbottom=False)


def new_sheet(
    data: pd.DataFrame,
    row_height_cm: float,
    *,
    column: str,
    row: str | None = None,
    n_columns: int | None = None,
    share_y: Literal["row"] | bool = False,
    groups: Sequence[Family] = (),
) -> Sheet:
    """Return an empty sheet as wide as the text.

    A panel stands for one value of a `column`, and of a `row`, of the points. Without a `row`, the
    panels are wrapped, into two columns, or three where there are many; more than one family of
    implementations in `groups` become the rows. All panels share a vertical axis, or those of a
    row, or none.
    """
    ways = tuple(dict.fromkeys(data["implementation"]))
    groups = [group for group in groups if set(ways).intersection(group.members)]
    crowded = len(groups) > 1
    if crowded:
        # every family has all points: its own to be followed, the others as context
        rows = [(data, group) for group in groups]
    else:
        parts = [data] if row is None else [data[data[row] == one] for one in _values(data[row])]
        rows = [(part, Family("", ways)) for part in parts]
    columns = _values(data[column])
    if crowded or row is not None:
        n_columns = len(columns)
    elif n_columns is None:
        n_columns = min(len(columns), 2 if len(columns) <= _WRAP_WIDE else 3)
    parts_of_panels = [(part[part[column] == one], of) for part, of in rows for one in columns]
    n_panels = len(parts_of_panels)
    figure = Figure(layout="constrained")
    grid = figure.subplots(-(-n_panels // n_columns), n_columns, squeeze=False, sharey=share_y).flat
    for axes in grid[n_panels:]:
        axes.remove()
    contents = tuple(
        Panel(place, grid[place], part, family)
        for place, (part, family) in enumerate(parts_of_panels)
    )
    beside_axes_cm = 0.9 if share_y else 1.6
    width_cm = (WIDTH_CM - _BESIDE_CM if crowded else WIDTH_CM) / n_columns - beside_axes_cm
    return Sheet(figure, contents, n_columns, width_cm, row_height_cm)


def _values(column: pd.Series) -> list[Any]:
    """Return the values that panels stand for: numbers from the least on, others as they come."""
    found = list(column.unique())
    return sorted(found) if is_numeric_dtype(column) else found


def finish(sheet: Sheet, data: pd.DataFrame, legend: Legend | None, note: Sequence[str]) -> Figure:
    """Put the legend, if any, above or beside and the note below, and size the figure.

    The points of the figure decide what the legend explains.
    """
    handles: list[Line2D] = []
    beside_cm, row_cm = 0.0, sheet.row_height_cm
    if legend is not None:
        drawn = [name for name in legend.implementations if name in set(data["implementation"])]
        if len(sheet.families) > 1:
            beside_cm = _BESIDE_CM
            row_cm = max(row_cm, _legends_beside(sheet, legend, drawn))
        else:
            said = {name: name for name in drawn}
            said |= {name: f"{name} ({label})" for name, label in legend.labels.items()}
            handles = _handles(legend, {name: said[name] for name in drawn})
        note = [*note, EMULATED_NOTE if legend.emulated else ""]
    n_rows = -(-len(sheet.contents) // sheet.n_columns)
    put_words(sheet.figure, n_rows * row_cm, note, handles, beside_cm=beside_cm)
    return sheet.figure


def _legends_beside(sheet: Sheet, legend: Legend, drawn: Sequence[str]) -> float:
    """Put each family's legend beside its row of panels; return the height of the highest."""
    most_cm = 0.0
    for last in sheet.contents[sheet.n_columns - 1 :: sheet.n_columns]:
        said = {
            name: "\n".join([name, *wrap(label, _BESIDE_TEXT_CM, _BESIDE_PT)] if label else [name])
            for name in drawn
            for label in [legend.labels.get(name)]
            if name in last.family.members
        }
        placed = last.axes.legend(
            handles=_handles(legend, said), loc="upper left",
            bbox_to_anchor=(1.02, 1.04), borderpad=0, handlelength=2.6, borderaxespad=0,
            labelspacing=0.5, fontsize=_BESIDE_PT, title=last.family.name,
            title_fontproperties={"size": _BESIDE_PT, "weight": "bold"}, alignment="left",
        )  # fmt: skip
        # Room for it is kept at the side; it must not push the rows of panels apart.
        placed.set_in_layout(False)
        n_lines = 1 + sum(text.count("\n") + 1 for text in said.values())
        most_cm = max(most_cm, n_lines * _BESIDE_ROW_CM + (len(said) + 2) * _BESIDE_GAP_CM)
    return most_cm


def _handles(legend: Legend, said: Mapping[str, str]) -> list[Line2D]:
    """Return the lines of some implementations, each with what is said of it."""
    styles = way_styles(legend.implementations)
    return [Line2D([], [], **styles[name].as_line(), label=text) for name, text in said.items()]
