"""Whether records belong into one table: each where it lies, and all of them together."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from copycost.errors import DataError


def require_place(path: Path, record: Mapping[str, Any]) -> None:
    """Refuse a record of another study, cell or repetition than its path says.

    Raises
    ------
    DataError
        Naming what the record has and the path has not.
    """
    own = [record["study"], *(f"{name}={value}" for name, value in record["cell"].items())]
    folders = path.with_suffix("").parts
    words = [word for word in own if word not in folders]
    if words:
        raise DataError(
            f"{path}: holds the record of another repetition ({', '.join(words)}); delete it to "
            "measure this one again"
        )


def require_one_host(digests: Sequence[str], path_of: Callable[[int], object]) -> None:
    """Refuse to compare what was measured on different hosts, or states of one.

    Parameters
    ----------
    digests
        Of the host facts, one per record.
    path_of
        Which record has the digest at a place in that list.

    Raises
    ------
    DataError
        Naming a record of the rarest host.
    """
    hosts = Counter(digests)
    if len(hosts) > 1:
        rarest, n_records = hosts.most_common()[-1]
        raise DataError(
            f"the records come from {len(hosts)} different hosts or states of a host "
            f"({n_records} of {len(digests)} unlike most, such as "
            f"{path_of(digests.index(rarest))}); delete those, or all of results/raw, and run "
            "again, so that all cells are measured alike"
        )


def overlaps(spans: Iterable[tuple[str, int, int]]) -> list[tuple[int, int]]:
    """Return which measurements began before an earlier one of the same boot was over.

    Parameters
    ----------
    spans
        Boot, start and end of each measurement [ns, CLOCK_MONOTONIC].

    Returns
    -------
    list of tuple of int
        Places in `spans`, the earlier start first: who was not over, and who began.
    """
    found = []
    latest: dict[str, tuple[int, int]] = {}  # the latest end so far, and whose it is
    for place, (boot, start_ns, end_ns) in sorted(enumerate(spans), key=lambda one: one[1]):
        if boot in latest and start_ns < latest[boot][0]:
            found.append((latest[boot][1], place))
        if boot not in latest or end_ns > latest[boot][0]:
            latest[boot] = end_ns, place
    return found


def say_overlaps(n_overlaps: int, first: str) -> str:
    """Return the sentence on measurements that overlap; `first` names two of them."""
    return (
        f"{n_overlaps} measurements overlap others in time, the first being {first}: delete their "
        "records and run again, with nothing else measuring on this host"
    )
