"""The sheet a figure stands on: panels between a legend above or beside and a note below."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from copycost.figures.markers import Family, families, way_styles
from copycost.figures.style import WIDTH_CM
from copycost.figures.tables import Legend
from copycost.figures.text import (
    EMULATED_NOTE,
    LABEL_PT,
    LEGEND_ROW_CM,
    note_lines,
    put_note,
    text_width_cm,
    wrap,
)

_LEGEND_HANDLE_CM = 1.95
_BESIDE_CM = 4.5
_BESIDE_TEXT_CM = 3.2
_BESIDE_PT = 7.6
_BESIDE_ROW_CM = 0.325
_BESIDE_GAP_CM = 0.12
_WRAP_WIDE = 6
_FAMILY = "family"


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
    def panel_height_cm(self) -> float:
        """Return the height inside one panel's axes, about."""
        return self.row_height_cm - 1.0

    def is_top(self, panel: Panel) -> bool:
        """Tell whether a panel needs a title: below another family's it would say the same."""
        return len(self.families) == 1 or panel.family == self.families[0]

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
    present = set(data["implementation"])
    groups = [group for group in groups if present.intersection(group.members)]
    if len(groups) < 2:
        groups = [Family("", tuple(dict.fromkeys(data["implementation"])))]
    crowded = len(groups) > 1
    n_values = int(data[column].nunique())
    if row is not None or crowded:
        n_columns = n_values
    elif n_columns is None:
        n_columns = min(n_values, 2 if n_values <= _WRAP_WIDE else 3)
    if crowded:
        # Every family has all points: its own to be followed, the others as context.
        row = _FAMILY
        data = pd.concat([data.assign(**{row: group.name}) for group in groups])
    wrapped = n_columns if row is None else None
    grid = _Grid(data, col=column, row=row, col_wrap=wrapped, sharex=False, sharey=share_y)
    # The grid made its figure through pyplot, which would keep it for ever.
    plt.close(grid.figure)
    grid.figure.set_layout_engine("constrained")
    for axes in grid.axes.flat:
        axes.set_title("")
    beside_axes_cm = 0.9 if share_y else 1.6
    width_cm = (WIDTH_CM - _BESIDE_CM if crowded else WIDTH_CM) / n_columns - beside_axes_cm
    contents = tuple(
        Panel(at * n_columns + along, axes, part, groups[at] if crowded else groups[0])
        for ((at, along, _), part), axes in zip(grid.facet_data(), grid.axes.flat, strict=True)
    )
    return Sheet(grid.figure, contents, n_columns, width_cm, row_height_cm)


class _Grid(sns.FacetGrid):
    """A grid that is laid out once, when it has been drawn, and not when it is made as well."""

    def tight_layout(self, *_arguments: object, **_settings: object) -> "_Grid":
        return self


def groups_of(data: pd.DataFrame) -> tuple[Family, ...]:
    """Return the families of the implementations that a figure has points of."""
    return families(str(name) for name in data["implementation"].unique())


def finish(sheet: Sheet, data: pd.DataFrame, legend: Legend | None, note: Sequence[str]) -> Figure:
    """Put the legend, if any, above or beside and the note below, and size the figure.

    The points of the figure decide what the legend explains.
    """
    figure = sheet.figure
    legend_cm = beside_cm = 0.0
    row_cm = sheet.row_height_cm
    if legend is not None:
        drawn = [name for name in legend.implementations if name in set(data["implementation"])]
        if len(sheet.families) > 1:
            beside_cm = _BESIDE_CM
            row_cm = max(row_cm, _legends_beside(sheet, legend, drawn))
        else:
            legend_cm = _legend_above(figure, legend, drawn)
    if legend is not None and legend.emulated:
        note = [*note, EMULATED_NOTE]
    n_rows = -(-len(sheet.contents) // sheet.n_columns)
    put_note(figure, note_lines(note), n_rows * row_cm, legend_cm, beside_cm)
    return figure


def _legend_above(figure: Figure, legend: Legend, names: Sequence[str]) -> float:
    """Put one legend over all panels; return its height."""
    said = {name: f"{name} ({legend.labels[name]})" for name in names if name in legend.labels}
    handles = _handles(legend.implementations, names, said)
    if not handles:
        return 0.0
    widths = np.array([text_width_cm(str(handle.get_label()), LABEL_PT) for handle in handles])

    def fits(columns: int) -> bool:
        """Tell whether so many columns do, each as wide as its longest label and line."""
        parts = np.array_split(widths, columns)
        return sum(float(part.max()) + _LEGEND_HANDLE_CM for part in parts) <= WIDTH_CM

    columns = next(filter(fits, range(len(handles), 1, -1)), 1)
    figure.legend(
        handles=handles, ncols=columns, loc="upper left", borderpad=0.2, handlelength=3.2,
        columnspacing=1.8, bbox_to_anchor=(0, 1), labelspacing=0.35,
    )  # fmt: skip
    return -(-len(handles) // columns) * LEGEND_ROW_CM


def _legends_beside(sheet: Sheet, legend: Legend, drawn: Sequence[str]) -> float:
    """Put each family's legend beside its row of panels; return the height of the highest."""
    most_cm = 0.0
    for last in sheet.contents[sheet.n_columns - 1 :: sheet.n_columns]:
        names = [name for name in drawn if name in last.family.members]
        said = {
            name: "\n".join([name, *wrap(legend.labels[name], _BESIDE_TEXT_CM, _BESIDE_PT)])
            for name in names
            if name in legend.labels
        }
        placed = last.axes.legend(
            handles=_handles(legend.implementations, names, said), loc="upper left",
            bbox_to_anchor=(1.02, 1.04), borderpad=0, handlelength=2.6, borderaxespad=0,
            labelspacing=0.5, fontsize=_BESIDE_PT, title=last.family.name,
            title_fontproperties={"size": _BESIDE_PT, "weight": "bold"}, alignment="left",
        )  # fmt: skip
        # Room for it is kept at the side; it must not push the rows of panels apart.
        placed.set_in_layout(False)
        n_lines = 1 + sum(said.get(name, name).count("\n") + 1 for name in names)
        most_cm = max(most_cm, n_lines * _BESIDE_ROW_CM + (len(names) + 2) * _BESIDE_GAP_CM)
    return most_cm


def _handles(
    implementations: Sequence[str], names: Sequence[str], said: Mapping[str, str]
) -> list[Line2D]:
    styles = way_styles(implementations)
    return [Line2D([], [], **styles[name].as_line(), label=said.get(name, name)) for name in names]
