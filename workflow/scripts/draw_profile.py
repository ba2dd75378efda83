"""Draw the flame graphs of all profiles."""

from pathlib import Path

from copycost.snakefile.parts import make_part
from copycost.studies.profile.flame import draw_all
from copycost.studies.profile.tables import load_lists, read_repetitions


def _make() -> None:
    lists = load_lists(Path("data"))
    draw_all(
        read_repetitions(map(Path, snakemake.input.records), lists),
        lists,
        Path(snakemake.output.figures[0]).parent,
    )


make_part(snakemake.log[0], snakemake.input, snakemake.output, _make)
