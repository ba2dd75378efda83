"""The chapters and the figures of cpu_budget and datagrams, which drivers measure."""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import budgets
import datagram_tables
import pytest
from budgets import Truth as Budget
from configured import configured
from datagram_tables import Truth as Datagrams
from golden.compare import GOLDEN, golden_text
from golden.sentences import chapter
from unit.studies.cpu_budget.test_curves import profile

from copycost.config import studies
from copycost.config.settings import Settings
from copycost.config.studies import FIGURES
from copycost.figures.output import save
from copycost.figures.tables import Drawn
from copycost.studies.cpu_budget.figures import draw_bitrate
from copycost.studies.datagrams.figures import draw as draw_datagrams

WHY_NONE = "this host allows no network namespace (Operation not permitted)"
TOO_OLD = "iperf3 3.1.3 is too old: its JSON lacks what is needed here"
KVM = {"accelerator": "kvm"}


@dataclass(frozen=True)
class Driven:
    """A study: how its facts and figures are made, runs of it, and what its chapter says."""

    name: str
    facts_of: Callable[[Any], Mapping[str, Any]]
    draw: Callable[[str, Mapping[str, Any]], Drawn]
    figures: tuple[str, ...]
    runs: Mapping[str, Any]
    said: Mapping[str, object]

    def text(self, run: Any) -> str:  # noqa: ANN401
        """Return the whole chapter about a run."""
        details = [f"{self.name}_details"] if run.truths else []
        return chapter(self.name, self.facts_of(run), list(self.figures), *details)


ONE, TWO = Budget(), Budget(n_threads=2, gbps_per_percent=0.19)
LOST = [("veth", "skipped", WHY_NONE, "run as root")]
BUDGETS = Driven(
    "cpu_budget",
    budgets.facts_of,
    lambda _, facts: draw_bitrate(facts),
    FIGURES["cpu_budget"],
    {
        "chapter": budgets.Study(
            (ONE, TWO, Budget(implementation="two_copy", bend=0.0006, noise=0.002)),
            lost=LOST,
            profile=profile(0.5, 0.4),
        ),
        "nothing_measured": budgets.Study((), lost=LOST),
        "in_guests": budgets.Study((ONE, budgets.PAIR, budgets.IN_ONE)),
        "in_kvm": budgets.Study((replace(budgets.PAIR, **KVM), replace(budgets.IN_ONE, **KVM))),
        "several": budgets.Study((ONE, replace(TWO, ceiling=20.0), Budget(testbed="veth"))),
        "four_panels": budgets.Study(
            [
                Budget(implementation=implementation, limiter=limiter)
                for implementation in ("iperf3", "two_copy")
                for limiter in ("cgroup", "cpulimit")
            ],
            repetitions=1,
        ),
    },
    {
        "a per cent of the senders' CPU buys": budgets.Study(),
        "The numbers above leave them out.": budgets.Study((ONE, TWO, budgets.PAIR)),
        "Where guests are called emulated": budgets.Study((budgets.PAIR,)),
        "No curve has three steps on a line": budgets.Study((Budget(bend=0.01, noise=0.002),)),
        # guests that told of another time
        "| not known |": budgets.Study((replace(budgets.PAIR, off_window=True),)),
    },
)
LOST_DATAGRAMS = [("skipped", TOO_OLD, "install iperf3 3.5 or newer")]
GUESTS = (datagram_tables.PAIR, datagram_tables.IN_ONE)
DATAGRAMS = Driven(
    "datagrams",
    datagram_tables.facts_of,
    draw_datagrams,
    FIGURES["datagrams"],
    {
        "chapter": datagram_tables.Study(
            (
                Datagrams(),
                Datagrams(n_threads=2, loss=0.4),
                Datagrams(implementation="two_copy", driver_knows=False),
            ),
            lost=LOST_DATAGRAMS,
        ),
        "nothing_measured": datagram_tables.Study((), lost=LOST_DATAGRAMS),
        "in_guests": datagram_tables.Study((Datagrams(), *GUESTS)),
        "in_kvm": datagram_tables.Study([replace(one, **KVM) for one in GUESTS]),
        "several": datagram_tables.Study(
            (Datagrams(), Datagrams(n_threads=2), Datagrams(testbed="loopback"))
        ),
        "four_panels": datagram_tables.Study(
            [
                Datagrams(testbed=testbed, implementation=implementation)
                for testbed in ("veth_udp", "loopback")
                for implementation in ("iperf3", "one_copy")
            ],
            repetitions=1,
        ),
    },
    {
        "counters give a cause for each.": datagram_tables.Study(),
        "counters give a cause for all but": datagram_tables.Study(
            (Datagrams("wire_udp-lab2", unaccounted=5),)
        ),
        "Not one of": datagram_tables.Study((Datagrams(loss=0.0),)),
        "so the losses are unknown.": datagram_tables.Study((Datagrams(counted=False),)),
        "Where guests are called emulated": datagram_tables.Study(GUESTS[:1]),
    },
)
STUDIES = (BUDGETS, DATAGRAMS)
_SHARED = {
    "implementations": ["iperf3", "two_copy"], "n_threads": [1, 2], "repetitions": 2,
    "warmup_s": 0.3, "duration_s": 1.0,
}  # fmt: skip
CONFIG = configured(
    cpu_budget=_SHARED
    | {"testbeds": ["veth", "loopback"], "limiters": ["cgroup"], "limit_percent": [10, 50, 100]},
    datagrams=_SHARED | {"testbeds": ["veth_udp", "loopback_udp"], "msg_bytes": [64, 1472]},
)
each_study = pytest.mark.parametrize("study", STUDIES, ids=lambda one: one.name)
each_figure = pytest.mark.parametrize(
    ("study", "name"),
    [
        pytest.param(one, name, id=f"{one.name}-{name}", marks=pytest.mark.slow)
        for one in STUDIES
        for name in one.figures
    ],
)


@pytest.mark.parametrize(
    ("section", "n_cells"),
    # on loopback iperf3 alone sends datagrams
    [(CONFIG.cpu_budget, 2 * 2 * 2 * 2 * 3), (CONFIG.datagrams, 2 * 3 * 2 * 2)],
)
def test_every_combination_that_can_exist_comes_once_round_by_round(
    section: studies.CpuBudget | studies.Datagrams, n_cells: int
) -> None:
    cells = section.cells()
    assert len(cells) == len(set(cells)) == n_cells
    assert [cell.rep for cell in cells] == sorted(cell.rep for cell in cells)
    # its own window, and the run's CPUs and congestion control
    run = Settings(9.0, 9.0, "bbr", "off", 4096, 4096, (3,), (2,), fresh=True)
    own = Settings(0.3, 1.0, "bbr", sender_cpus=(3,), receiver_cpus=(2,))
    assert section.settings(run) == own


@each_study
@pytest.mark.parametrize("name", ["chapter", "nothing_measured"])
def test_the_whole_chapter_is_the_golden_one(study: Driven, name: str) -> None:
    text = study.text(study.runs[name])
    assert text == golden_text(GOLDEN / study.name / f"{name}.md", text)


@pytest.mark.parametrize(("study", "said"), [(one, said) for one in STUDIES for said in one.said])
def test_the_chapter_says_what_was_found(study: Driven, said: str) -> None:
    text = study.text(study.said[said])
    assert said in text
    assert "nan" not in text


@each_study
def test_the_chapter_says_which_guests_are_emulated(study: Driven) -> None:
    def rows(name: str) -> list[str]:
        lines = study.text(study.runs[name]).splitlines()
        return [line for line in lines if line.startswith("| `vm_")]

    assert rows("in_guests")
    assert all("emulated" in row for row in rows("in_guests"))
    assert rows("chapter") == []
    assert "mulat" not in study.text(study.runs["in_kvm"])


@each_figure
def test_a_figure_and_its_table_are_written(study: Driven, name: str, tmp_path: Path) -> None:
    drawn = study.draw(name, study.facts_of(study.runs["several"]))
    save(drawn, tmp_path / "f.svg")
    assert ET.parse(tmp_path / "f.svg").getroot().tag.endswith("svg")
    assert set(drawn.data["state"]) == {"measured"}
    if name == "bitrate":
        assert set(drawn.data[drawn.data["saturated"]]["n_threads"]) == {2}


@each_figure
def test_the_words_of_four_panels_of_one_repetition_do_not_meet(study: Driven, name: str) -> None:
    figure = study.draw(name, study.facts_of(study.runs["four_panels"])).figure
    figure.draw_without_rendering()
    for words in ([axes.title for axes in figure.axes], [axes.xaxis.label for axes in figure.axes]):
        boxes = [text.get_window_extent() for text in words if text.get_text()]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
        assert all(box.x1 <= figure.bbox.x1 for box in boxes)


@each_figure
def test_nothing_measured_is_a_sentence(study: Driven, name: str) -> None:
    drawn = study.draw(name, study.facts_of(study.runs["nothing_measured"]))
    assert drawn.data.empty
    assert "state" in drawn.data.columns
    assert drawn.figure.texts[0].get_text().endswith("measured.")
