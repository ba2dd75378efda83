"""Claims about one value beside another: implementations, sizes or thread counts compared."""

from dataclasses import replace
from functools import partial

from copycost.audit.claims.cells import (
    CellValues,
    Grid,
    Key,
    Measured,
    Ruling,
    Survey,
    grids,
    known_names,
    survey,
    weigh_ratio,
)
from copycost.audit.claims.vocabulary import Change, Claim, Point
from copycost.audit.dataset import Dataset
from copycost.audit.message import Message


def judge_change(change: Change, claim: Claim, measured: Measured) -> Survey:
    """Return what each pair of cells that a claim is about says of it."""
    cells = measured.cells(change.metric)
    change = _with_known_names(change, measured.dataset)
    found = survey(
        [_judged_at(grid, change) for grid in grids(claim, cells)],
        cells,
        partial(_judge_pair, change, cells),
        lambda key: cells.evidence([_moved(key, change.to), _moved(key, change.from_)]),
    )
    ends = {change.from_.implementation, change.to.implementation} - {None}
    return found if ends <= cells.implementations else replace(found, reason=Message("no_pairs"))


def _with_known_names(change: Change, dataset: Dataset) -> Change:
    from_, to = (
        point
        if point.implementation is None
        else replace(point, implementation=known_names(dataset, [point.implementation])[0])
        for point in (change.from_, change.to)
    )
    names = known_names(dataset, change.implementations)
    return replace(change, from_=from_, to=to, implementations=names)


def _judged_at(grid: Grid, change: Change) -> Grid:
    """Return the cells of a grid that are compared with another, those at `to`."""
    to = change.to
    if to.implementation is not None:
        names: tuple[str, ...] = (to.implementation,)
    else:
        names = tuple(dict.fromkeys(change.implementations)) or grid.implementations
    sizes = (to.msg_bytes,) if to.msg_bytes else grid.sizes
    return replace(
        grid,
        implementations=names,
        sizes=tuple(size for size in sizes if change.claimed(size) is not None),
        threads=(to.n_threads,) if to.n_threads else grid.threads,
    )


def _moved(key: Key, point: Point) -> Key:
    return (
        key[0],
        point.implementation or key[1],
        point.msg_bytes or key[2],
        point.n_threads or key[3],
    )


def _judge_pair(change: Change, cells: CellValues, key: Key) -> Ruling | None:
    before, region = _moved(key, change.from_), change.claimed(key[2])
    if before not in cells or region is None:
        return None
    ruling = weigh_ratio(cells.log_ratios(key, before), region)
    if ruling is None:
        return None
    evidence = partial(cells.evidence_of_ratio, key, before)
    return replace(ruling, evidence=evidence, keys=(key, before))
