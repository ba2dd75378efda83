"""The files that the report shows, in one folder next to it: Typst reads nothing outside of it."""

import csv
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from copycost.figures.markers import families


def gather_assets(
    figures: Iterable[Path], diagrams: Iterable[Path], templates: Path, assets: Path
) -> None:
    """Copy figures, diagrams and what typesetting takes into `assets`, which is made anew.

    Figures, ``.../{condition}/{figure}.svg`` with their CSV, keep their last two names; the text of
    diagrams is drawn as outlines on the way; ``templates/style`` has what any report takes.
    """
    from copycost.figures.outline import outline_text  # Matplotlib is slow to load

    shutil.rmtree(assets, ignore_errors=True)
    for figure in figures:
        target = assets / figure.parent.name / figure.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(figure, target)
        shutil.copyfile(figure.with_suffix(".csv"), target.with_suffix(".csv"))
    folder = assets / "diagrams"
    folder.mkdir(parents=True, exist_ok=True)
    for diagram in diagrams:
        svg = outline_text(diagram.read_text(encoding="utf-8"))
        (folder / diagram.name).write_text(svg, encoding="utf-8")
    shutil.copytree(templates / "style", assets, dirs_exist_ok=True)


def shown_figures(figures: Iterable[Path]) -> dict[str, list[str]]:
    """Return the names of the figures of each condition that show anything.

    A figure of which nothing was measured is a sentence in the report, not an empty frame. The
    column `state` of its CSV has ``left out`` where it could not be drawn, which the picture says.
    """
    shown: dict[str, list[str]] = {}
    for figure in figures:
        names = shown.setdefault(figure.parent.name, [])
        with figure.with_suffix(".csv").open(newline="", encoding="utf-8") as file:
            if any(row["state"] in ("measured", "left out") for row in csv.DictReader(file)):
                names.append(figure.stem)
    return shown


def worth_showing(
    shown: Mapping[str, Sequence[str]], conditions: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[str]]:
    """Return `shown` without the figures that say nothing of their own.

    Latency needs several numbers of threads; context switches alone, without cache misses, make no
    figure; the ranking by cost shows again what the cost per byte shows, as long as few
    implementations are compared. Folders that are of no single condition keep all of theirs.
    """
    found = {}
    for folder, names in shown.items():
        dull = set()
        if condition := conditions.get(folder):
            if len(condition["grid"]["n_threads"]) == 1:
                dull.add("time_per_message")
            if not condition["counted_levels"]:
                dull.add("counters")
            if len(families(condition["grid"]["implementations"])) == 1:
                dull.add("ranking")
        found[folder] = [name for name in names if name not in dull]
    return found
