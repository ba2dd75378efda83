"""The table of rankings, and which conditions have one."""

from copycost.report.tables import ranked
from copycost.report.tables import ranking as ranking_table


def rows_of(markdown: str) -> list[list[str]]:
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [[cell.replace("\u00a0", " ") for cell in row] for row in [cells[0], *cells[2:]]]


def place(implementation: str, median: float, **changed: object) -> dict:
    row = {"implementation": implementation, "rank": 1, "place_low": 1, "place_high": 2, "n": 3}
    row |= {"median": median, "low": median * 0.9, "high": median * 1.1, "floor_ratio": 4.0}
    return row | changed


def condition(
    *rows: dict, side: str | None = "both", n_sizes: int = 1, floor: float | None = None
) -> dict:
    sizes = [
        {"msg_bytes": 4096 << n, "rows": list(rows), "floor_ns_per_byte": floor}
        for n in range(n_sizes)
    ]
    return {
        "slug": "veth_no_offload",
        "labels": {"zero_copy": "zero-copy requested, 40 % copied"},
        "grid": {"implementations": [f"way_{n}" for n in range(13)]},
        "ranking": {
            "unit": "ns", "label": "CPU time", "side": side, "n_threads": 1, "sizes": sizes,
        },
    }  # fmt: skip


def test_ranking_gives_place_cost_interval_and_multiple_of_a_copy() -> None:
    once = place("two_copy", 0.4, low=None, high=None, n=1, place_low=1, place_high=1)
    vague = place("zero_copy", 0.4, low=0.01, high=9.0, floor_ratio=None)
    markdown = ranking_table(condition(place("one_copy", 0.4), once, vague, floor=0.1))
    assert rows_of(markdown) == [
        ["Message", "Place", "Implementation", "ns per byte", "interval", "copies", "n"],
        ["4 KiB", "1 to 2", "`one_copy`", "0.400", "0.360 to 0.440", "4.00", "3"],
        ["", "1", "`two_copy`", "0.400", "---", "4.00", "1"],
        ["", "1 to 2", "`zero_copy`†", "0.400", "too wide", "---", "3"],
    ]
    assert "(both sides together" in markdown
    assert "† zero-copy requested, 40 % copied. {#tbl" in markdown
    alone = ranking_table(condition(place("two_copy", 1.0, floor_ratio=None), side="sender"))
    assert "(the sender alone, 1 thread)" in alone
    assert "copies" not in rows_of(alone)[0]


def test_long_ranking_names_the_size_in_every_row() -> None:
    many = [place(f"way_{n}", 1.0) for n in range(12)]
    short, long = (condition(*many, n_sizes=n) for n in (3, 4))
    assert [row[0] for row in rows_of(ranking_table(short))[1:]].count("") == 33
    assert "" not in [row[0] for row in rows_of(ranking_table(long))]


def test_many_ways_with_a_cost_are_ranked() -> None:
    rows = [place(name, 1.0) for name in "abc"]
    known, unknown = (condition(*rows, side=side, n_sizes=3) for side in ("both", None))
    few = known | {"grid": {"implementations": ["two_copy", "one_copy"]}}
    assert ranked([known, unknown, known | {"ranking": None}, condition(), few]) == [known]
