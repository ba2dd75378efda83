"""From which size on one implementation beats another."""

from golden.analysis_facts import (
    CONFIDENCE,
    GRID,
    LABEL,
    Case,
    Facts,
    crossing,
    grid,
    group,
    pair,
)

_ONE_SIZE = grid(65536, threads=(1,))
_CHANGES = {"change": None, "point_low_bytes": 5325, "point_high_bytes": 9318}
_ONE_POINT = _CHANGES | {"point_high_bytes": 5325}
_NO_END = {"change": crossing(9318)}


def _verdict(branch: str, found: Facts, where: Facts = GRID) -> Case:
    return "verdict", branch, (found, where)


def _sizes(branch: str, found: Facts) -> Case:
    return "along_sizes", branch, (found, pair(), GRID, CONFIDENCE)


def _costs(branch: str, found: Facts, alike: bool = False) -> Case:
    return "cost_along_sizes", branch, (found, alike, LABEL, GRID, CONFIDENCE)


CASES: list[Case] = [
    _verdict("not measured", pair("not_measured")),
    _verdict("always", pair("always", 6)),
    _verdict("always, one size", pair("always", 1), _ONE_SIZE),
    _verdict("never", pair("never", 0, 6)),
    _verdict("from one size", pair("from", 4, 2)),
    _verdict("from one size with a gap", pair("from", 3, 2, 1, gaps=[65536])),
    _verdict("from two sizes", pair("from", 3, 3, same_size=False, sizes=[4096, 65536])),
    _verdict("up to one size", pair("up_to", 4, 2)),
    _verdict("up to two sizes", pair("up_to", 3, 3, same_size=False, sizes=[1024, 4096])),
    _verdict("mixed", pair("mixed", 3, 3)),
    _verdict("one cell without a difference", pair("undecided", 0, 0, 1), _ONE_SIZE),
    _verdict("no difference", pair("undecided", 0, 0, 6)),
    _verdict("never faster", pair("undecided", 0, 2, 4)),
    _verdict("never slower", pair("undecided", 2, 0, 4)),
    _verdict("both", pair("undecided", 2, 3, 1)),
    _verdict("depends on the threads", pair("depends", 3, 3)),
    _sizes("not measured", group("not_measured")),
    _sizes("always", group("always", (1024, 4096, 65536))),
    _sizes("never", group("never", (), (1024,))),
    _sizes("from", group("from", (65536,), (1024, 4096))),
    _sizes("from, with a gap and a size missing", group(
        "from", (4096, 1048576), (1024,), (65536,), gaps=[65536], missing=[256], **_NO_END
    )),
    _sizes("from, several thread counts", group(
        "from", (65536,), (1024, 4096), n_threads=[1, 2], **_CHANGES
    )),
    _sizes("from, observed once", group(
        "from", (65536,), (1024,), observed_once=True, **_NO_END
    )),
    _sizes("up to", group("up_to", (1024, 4096), (65536,), **_ONE_POINT)),
    _sizes("mixed", group("mixed", (4096,), (1024, 65536))),
    _sizes("both, one size alone", group("undecided", (4096,), (1024, 65536), lone=[4096])),
    _sizes("faster at some", group("undecided", (4096,), (), (1024, 65536))),
    _sizes("slower at some", group("undecided", (), (4096,), (1024, 65536))),
    _sizes("no difference", group("undecided", (), (), (1024, 4096))),
    _sizes("no difference at one size", group("undecided", (), (), (1024,))),
    _costs("always", group("always", (1024, 4096, 65536))),
    _costs("never", group("never", (), (1024, 4096, 65536))),
    _costs("as by throughput", group("from", (65536,), (1024,)), alike=True),
    _costs("from", group("from", (65536,), (1024,), (4096,))),
    _costs("cheaper at some", group("undecided", (65536,), (), (4096,))),
    _costs("more expensive at some", group("undecided", (), (65536,), (4096,))),
    _costs("no difference", group("undecided", (), (), (1024, 4096))),
]  # fmt: skip
