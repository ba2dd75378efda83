from collections.abc import Callable, Iterator, Mapping
from itertools import chain, repeat
from pathlib import Path

import pytest

from copycost.hosts.placement import Placement
from copycost.testbeds.testbed import open_testbed
from tools.bench.bench import Bench
from tools.bench.contest import Contest, contest_row
from tools.bench.pair import Programs
from tools.bench.rows import Limit
from tools.bench.yardstick import Stream

FREE = Placement((0,), (0,), pinned=False)
STREAM = Stream(4096, 1, 0, 1, FREE)


def bench(rounds: int, most_rounds: int) -> Bench:
    with open_testbed("loopback") as testbed:
        return Bench(testbed, Programs(Path()), 0, rounds, most_rounds, {}, STREAM, seed=1)


def contest(contenders: Mapping[str, Callable[[], float]], limit: Limit) -> Contest:
    return Contest("group", "name", ("two_copy", "other"), contenders, limit, "us", 1e3)


def results(*values: float) -> Callable[[], float]:
    left: Iterator[float] = chain(values, repeat(values[-1]))
    return lambda: next(left)


def test_each_round_holds_each_contender_once_in_an_order_of_its_own() -> None:
    calls: list[str] = []

    def contender(name: str) -> float:
        calls.append(name)
        return float(len(calls))

    names = ["a", "b", "c", "d"]
    found = bench(6, 6).in_rounds({name: lambda name=name: contender(name) for name in names}, 0, 6)
    rounds = [calls[i : i + 4] for i in range(0, 24, 4)]
    assert all(sorted(order) == names for order in rounds)
    assert len({tuple(order) for order in rounds}) > 1
    assert all(len(found[name]) == 6 for name in names)


ROUNDS = {
    "two_copy pinned": [10e3, 12e3, 11e3],
    "two_copy free": [20e3, 20e3, 20e3],
    "other pinned": [40e3, 40e3, 40e3],
    "other free": [10e3, 10e3, 10e3],
}


@pytest.mark.parametrize(
    ("limit", "favourites", "ratio"),
    [
        (Limit("at_most", 1.05), ("two_copy pinned", "other free"), 1.1),
        (Limit("at_least", 1.0), ("two_copy free", "other pinned"), 0.5),
    ],
)
def test_each_program_enters_with_its_better_placement(
    limit: Limit, favourites: tuple[str, str], ratio: float
) -> None:
    compared = contest({}, limit)
    assert compared.favourites(ROUNDS) == favourites
    row = compared.row(ROUNDS, favourites)
    assert row.value == pytest.approx(ratio)
    assert row.n == 3
    assert row.note.startswith("us: two_copy pinned 11.0, two_copy free 20.0")


def test_rounds_are_added_for_the_favourites_alone_until_the_limit_is_settled() -> None:
    calls = {"two_copy pinned": 0, "two_copy free": 0, "other pinned": 0}

    def counted(name: str, result: Callable[[], float]) -> Callable[[], float]:
        def run() -> float:
            calls[name] += 1
            return result()

        return run

    values = {
        "two_copy pinned": results(0.8, 1.3, 1.0, 0.9, 0.91, 0.92, 0.9, 0.91, 0.92),
        "two_copy free": results(2.0),
        "other pinned": results(1.0),
    }
    contenders = {name: counted(name, value) for name, value in values.items()}
    row = contest_row(bench(3, 30), contest(contenders, Limit("at_most", 1.05)))
    assert row.verdict == "ok"
    assert 3 < row.n < 30
    assert row.n % 3 == 0
    assert calls == {"two_copy pinned": row.n, "two_copy free": 3, "other pinned": row.n}


def test_a_contest_that_stays_open_ends_at_the_most_rounds() -> None:
    contenders = {"two_copy": results(*[0.9, 1.2] * 10), "other": results(1.0)}
    row = contest_row(bench(3, 8), contest(contenders, Limit("at_most", 1.05)))
    assert (row.verdict, row.n) == ("unsure", 8)
