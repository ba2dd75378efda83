"""What is said of a profiled repetition while the workflow runs."""

from copycost.grid.cells import Cell
from copycost.snakefile.progress import count, describe_cell
from copycost.studies.profile.record import ProfileRecord


def tell(record: ProfileRecord) -> str:
    """Return a line about a repetition: its cell, and how it went."""
    cell = Cell("profile", **record["cell"])
    line = f"profile {describe_cell(cell)}"
    sampling = record["sampling"]
    if sampling is None:
        return f"{line}: {record['status'].upper()}, {record['reason']}"
    sides = [f"{side} {count(one['samples'], 'sample')}" for side, one in sampling["sides"].items()]
    return f"{line}: {', '.join(sides)}, {sampling['lost']} lost"
