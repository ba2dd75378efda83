"""Figures over hosts, and the table of hosts, where there are few and where there are many."""

from typing import Any

import pytest
from unit.compare.hosts.made import facts_of

from copycost.compare.hosts.figures import NAMED_MOST, draw_forest, draw_sizes
from copycost.compare.hosts.report import hosts_table
from copycost.stats.crossover import Outcome

NO_MARK = {
    "up_to": "better up to a size only",
    "mixed": "changing sides more than once",
    "undecided": "undecided",
    "not_measured": "not measured",
}


@pytest.mark.parametrize("outcome", [str(outcome) for outcome in Outcome])
def test_a_mark_or_the_note_tells_where_a_host_turns(outcome: str) -> None:
    ((pair,),) = (
        condition["pairs"] for condition in facts_of([1.4, 1.5], [True] * 2)["conditions"]
    )
    is_bracket = outcome == "from"
    pair["quantities"][0]["turns"] = {"hosts": [
        {"name": "h0", "outcome": outcome, "below_bytes": 4096 if is_bracket else None,
         "above_bytes": 16384 if is_bracket else None}
    ]}  # fmt: skip
    figure = draw_forest(pair).figure
    (note,) = (" ".join(text.get_text().split()) for text in figure.texts)
    assert bool(figure.axes[-1].lines) != (outcome in NO_MARK)
    assert NO_MARK.get(outcome, "") in note.partition("no mark: ")[2]


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


def hosts(n: int, **told: str) -> list[dict[str, Any]]:
    names = ("kernel", "processor", "CPUs", "last-level cache", "virtualisation")
    return [
        {"name": f"host-{k}", "told": dict.fromkeys(names, "alike") | told | {"CPUs": str(k % 2)},
         "left_out": None, "n_measured": 9, "n_repetitions": 10, "disturbed": k / n}
        for k in range(n)
    ]  # fmt: skip


def test_of_many_hosts_it_has_the_kinds() -> None:
    many = hosts(50)
    many[0]["left_out"] = "one_kernel"
    table = hosts_table(many)
    assert table["of_kinds"]
    assert [row[:3] for row in table["rows"]] == [
        ["25", "1", "225 of 250"], ["24", "0", "216 of 240"], ["1, left out", "0", "9 of 10"],
    ]  # fmt: skip
    assert table["rows"][0][3] == "2 to 98\u00a0%"
