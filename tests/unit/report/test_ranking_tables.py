"""The tables of rankings and of round trips."""

from copycost.report.tables import ranking_table, round_trips_table


def rows_of(markdown: str) -> list[list[str]]:
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [[cell.replace("\u00a0", " ") for cell in row] for row in [cells[0], *cells[2:]]]


def ranked(implementation: str, median: float, **changed: object) -> dict:
    row = {"implementation": implementation, "rank": 1, "place_low": 1, "place_high": 2, "n": 3}
    row |= {"median": median, "low": median * 0.9, "high": median * 1.1, "floor_ratio": 4.0}
    return row | changed


def condition(
    *rows: dict, side: str = "both", n_sizes: int = 1, floor: float | None = None
) -> dict:
    sizes = [
        {"msg_bytes": 4096 << n, "rows": list(rows), "floor_ns_per_byte": floor}
        for n in range(n_sizes)
    ]
    return {
        "slug": "veth_no_offload",
        "labels": {"zero_copy": "zero-copy requested, 40 % copied"},
        "ranking": {
            "unit": "ns", "label": "CPU time", "side": side, "n_threads": 1, "sizes": sizes,
        },
    }  # fmt: skip


def test_ranking_gives_place_cost_interval_and_multiple_of_a_copy() -> None:
    found = rows_of(ranking_table(condition(ranked("two_copy", 0.4), floor=0.1)))
    assert found == [
        ["Message", "Place", "Implementation", "ns per byte", "interval", "copies", "n"],
        ["4 KiB", "1 to 2", "`two_copy`", "0.400", "0.360 to 0.440", "4.00", "3"],
    ]


def test_ranking_without_a_floor_has_no_such_column() -> None:
    row = ranked("two_copy", 0.4, floor_ratio=None)
    assert "copies" not in rows_of(ranking_table(condition(row)))[0]
    assert rows_of(ranking_table(condition(row, floor=0.1)))[1][5] == "---"


def test_ranking_says_what_became_of_requested_zero_copy() -> None:
    table = ranking_table(condition(ranked("zero_copy", 0.4)))
    assert rows_of(table)[1][2] == "`zero_copy`†"
    assert "† zero-copy requested, 40 % copied. {#tbl" in table


def test_ranking_says_whose_cost_it_is() -> None:
    alone = ranking_table(condition(ranked("two_copy", 1.0), side="sender"))
    assert "(the sender alone, 1 thread)" in alone
    assert "{#tbl-veth-no-offload-ranking .grouped}" in alone
    assert "(both sides together" in ranking_table(condition(ranked("a", 1.0)))


def test_ranking_of_one_repetition_and_of_a_vague_one_quotes_no_interval() -> None:
    once = ranked("two_copy", 0.4, low=None, high=None, n=1, place_low=1, place_high=1)
    vague = ranked("one_copy", 0.4, low=0.01, high=9.0)
    found = rows_of(ranking_table(condition(once, vague)))
    assert [row[4] for row in found[1:]] == ["---", "too wide"]
    assert found[1][1] == "1"


def test_long_ranking_names_the_size_in_every_row() -> None:
    many = [ranked(f"way_{n}", 1.0) for n in range(12)]
    short, long = (condition(*many, n_sizes=n) for n in (3, 4))
    assert [row[0] for row in rows_of(ranking_table(short))[1:]].count("") == 33
    assert "" not in [row[0] for row in rows_of(ranking_table(long))]


def trip(implementation: str, msg_bytes: int = 64, **changed: object) -> dict:
    times = {
        key: {"median": median, "low": median * 0.9, "high": median * 1.2}
        for key, median in (("p50_ns", 2e4), ("p90_ns", 3e4), ("p99_ns", 5e4), ("max_ns", 9e5))
    }
    row = {"implementation": implementation, "msg_bytes": msg_bytes, "n_threads": 1, "n": 3}
    return row | times | {"p999_ns": None, "samples": 12000} | changed


def trips(*rows: dict) -> list[list[str]]:
    found = {"slug": "veth", "labels": {"zero_copy": "zero-copy requested, 100 % copied"}}
    return rows_of(round_trips_table(found | {"rows": list(rows)}, 3))


def test_round_trips_are_in_microseconds_and_gaps_are_dashes() -> None:
    assert trips(trip("two_copy")) == [
        ["Message", "Implementation", "p50", "interval", "p90", "p99", "p99.9", "max",
         "round trips", "n"],
        ["64 B", "`two_copy`", "20.0", "18.0 to 24.0", "30.0", "50.0", "---", "900", "12,000", "3"],
    ]  # fmt: skip


def test_round_trips_name_size_once_lost_repetitions_and_labels() -> None:
    found = trips(trip("two_copy"), trip("zero_copy", n=2), trip("two_copy", 4096))
    assert [row[0] for row in found[1:]] == ["64 B", "", "4 KiB"]
    assert found[2][1] == "`zero_copy`†"
    assert found[2][-1] == "2 of 3"


def test_round_trips_of_several_thread_counts_say_which() -> None:
    found = trips(trip("two_copy"), trip("two_copy", n_threads=4))
    assert [row[:2] for row in found] == [["Message", "Threads"], ["64 B", "1"], ["64 B", "4"]]
