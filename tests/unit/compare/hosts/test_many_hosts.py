"""What a report over more hosts than have room by name looks like."""

from typing import Any

import pytest

from copycost.compare.hosts.figures import NAMED_MOST, draw_forest, draw_sizes
from copycost.compare.hosts.report import hosts_table

HOSTILE = r"$x^{$ <b>"
"""What a host may call its processor: in a label, dollars would make it a formula."""


def pair(n_hosts: int, metrics: tuple[str, ...]) -> dict[str, Any]:
    groups = ["Linux 6.1", HOSTILE]
    hosts = [
        {"name": f"host-{k}", "ratio": r, "low": r * 0.9, "high": r * 1.1, "group": groups[k % 2]}
        for k, r in ((k, 1.0 + k / n_hosts + k % 2) for k in range(n_hosts))
    ]
    told = {"msg_bytes": 4096, "n": n_hosts, "ratio": 1.5, "low": 1.4, "high": 1.6,
            "next_low": 1.0, "next_high": 2.2, "n_better": n_hosts, "n_open": 0,
            "n_worse": 0}  # fmt: skip
    point = told | {"hosts": hosts, "grouped_by": "processor", "outliers": hosts[-1:]}
    places = [{"name": one["name"], "outcome": "always", "below_bytes": None, "above_bytes": None}
              for one in hosts]  # fmt: skip
    turns = None if metrics[0] == "p50_ns" else {"hosts": places}
    sizes = [told, told | {"msg_bytes": 65536}]
    return {
        "condition": "veth", "implementation": "zero_copy", "baseline": "two_copy", "n_threads": 1,
        "quantities": [{"metric": name, "point": point, "sizes": sizes,
                        "turns": turns} for name in metrics],
    }  # fmt: skip


@pytest.mark.parametrize("metrics", [("throughput_bits_per_s",), ("p50_ns", "p99_ns")])
def test_many_hosts_are_drawn_in_blocks_of_those_alike(metrics: tuple[str, ...]) -> None:
    drawn = draw_forest(pair(4 * NAMED_MOST, metrics))
    drawn.figure.canvas.draw()
    labels = [label.get_text() for label in drawn.figure.axes[0].get_yticklabels()]
    n = 2 * NAMED_MOST
    assert {f"Linux 6.1 ({n})", f"{HOSTILE} ({n})".replace("$", r"\$")} <= set(labels)
    assert len(labels) == 3, "and the one that lies off"
    assert len(drawn.figure.axes) == len(metrics) + (metrics[0] != "p50_ns")
    assert len(drawn.data) == 4 * NAMED_MOST * len(metrics)
    assert len(draw_sizes(pair(8, metrics)).data) == 2 * len(metrics)


def test_few_hosts_are_drawn_by_name_and_ratio() -> None:
    drawn = draw_forest(pair(6, ("throughput_bits_per_s",)))
    labels = [label.get_text() for label in drawn.figure.axes[0].get_yticklabels()]
    assert labels == [f"host-{k}" for k in (0, 2, 4, 1, 3, 5)]


def hosts(n: int, **told: str) -> list[dict[str, Any]]:
    names = ("kernel", "processor", "CPUs", "last-level cache", "virtualisation")
    return [
        {"name": f"host-{k}", "told": dict.fromkeys(names, "alike") | told | {"CPUs": str(k % 2)},
         "left_out": None, "n_measured": 9, "n_repetitions": 10, "disturbed": k / n}
        for k in range(n)
    ]  # fmt: skip


def test_the_table_of_hosts_has_what_tells_them_apart() -> None:
    table = hosts_table(hosts(4))
    assert [title for title, _ in table["columns"]] == ["Host", "CPUs", "Measured", "Disturbed"]
    assert table["rows"][1] == ["`host-1`", "1", "9 of 10", "25\u00a0%"]


def test_of_many_hosts_it_has_the_kinds() -> None:
    many = hosts(50)
    many[0]["left_out"] = "one_kernel"
    table = hosts_table(many)
    assert table["of_kinds"]
    assert [row[:3] for row in table["rows"]] == [
        ["25", "1", "225 of 250"], ["24", "0", "216 of 240"], ["1, left out", "0", "9 of 10"],
    ]  # fmt: skip
    assert table["rows"][0][3] == "2 to 98\u00a0%"
