"""From which size on one implementation beats another."""

from golden.analysis_facts import (
    BRACKET,
    GRID,
    LABEL,
    Case,
    Facts,
    grid,
    group,
    pair,
)

_ONE_SIZE = grid(65536, threads=(1,))
_REVERSED = {"reversals": [{"msg_bytes": 4096, "better": [1], "worse": [2, 4]}]}


def _turns(overall: str, better: list[int], worse: list[int], *left_open: int) -> Facts:
    common = {"better": better, "worse": worse, "open": list(left_open)}
    common["all_sizes"] = sorted((*better, *worse, *left_open))
    return pair(overall, 3, 2, 1, common=common, bracket=BRACKET)


def _verdict(branch: str, found: Facts, where: Facts = GRID) -> Case:
    return "verdict", branch, (found, where)


def _sizes(branch: str, found: Facts) -> Case:
    return "along_sizes", branch, (found, pair(), GRID)


def _costs(branch: str, found: Facts, alike: bool = False) -> Case:
    return "cost_along_sizes", branch, (found, alike, LABEL, GRID)


CASES: list[Case] = [
    _verdict("not measured", pair("not_measured")),
    _verdict("always", pair("always", 6)),
    _verdict("always, one size", pair("always", 1), _ONE_SIZE),
    _verdict("never", pair("never", 0, 6)),
    _verdict("from", _turns("from", [65536], [1024, 4096])),
    _verdict("from, with a gap", _turns("from", [4096, 1048576], [256, 1024], 65536)),
    _verdict("from, reversed at a size", _turns("from", [65536], [1024], 4096) | _REVERSED),
    _verdict("up to", _turns("up_to", [1024, 4096], [65536])),
    _verdict("mixed", pair("mixed", 3, 3)),
    _verdict("one cell without a difference", pair("undecided", 0, 0, 1), _ONE_SIZE),
    _verdict("no difference", pair("undecided", 0, 0, 6)),
    _verdict("never faster", pair("undecided", 0, 2, 4)),
    _verdict("never slower", pair("undecided", 2, 0, 4)),
    _verdict("both", pair("undecided", 2, 3, 1)),
    _verdict("depends on the threads", pair("depends", 3, 2, 1, **_REVERSED)),
    _sizes("not measured", group("not_measured")),
    _sizes("always", group("always", (1024, 4096, 65536))),
    _sizes("never", group("never", (), (1024,))),
    _sizes("from", group("from", (65536,), (1024, 4096))),
    _sizes("from, with a gap and a size missing", group(
        "from", (4096, 1048576), (1024,), (65536,), missing=[256]
    )),
    _sizes("from, observed once", group("from", (65536,), (1024,), observed_once=True)),
    _sizes("up to", group("up_to", (1024, 4096), (65536,))),
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
