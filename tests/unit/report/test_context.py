"""What the templates get, and what they do with a fact that is missing."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from report.example import REPORT, sources_of, write_results
from synthetic import Run

from copycost.report.assets import shown_figures, worth_showing
from copycost.report.write import CHAPTERS, build_context, write_report

SMALL = Run(msg_bytes=(256, 65536), n_threads=(1, 2))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    write_results(SMALL, folder)
    return folder


def facts_of(folder: Path) -> dict:
    return json.loads((folder / "facts.json").read_text())


def test_figure_without_measured_points_is_not_shown(tmp_path: Path) -> None:
    folder = tmp_path / "veth"
    folder.mkdir()
    for name, states in (("full", "measured\nfailed\n"), ("empty", "skipped\n"), ("bare", "")):
        (folder / f"{name}.csv").write_text(f"state\n{states}")
    figures = [folder / f"{name}.svg" for name in ("full", "empty", "bare")]
    assert shown_figures(figures) == {"veth": ["full"]}


def test_figure_that_says_what_another_or_a_sentence_says_is_not_shown(results: Path) -> None:
    conditions = facts_of(results)["conditions"]
    figures = ["speed_and_cost", "time_per_message", "ranking", "counters"]
    shown = {"veth": figures, "all": ["round_trips"]}
    assert worth_showing(shown, conditions) == shown | {"veth": figures[:2]}
    conditions["veth"]["counted_levels"] = ["l1d_load_misses"]
    conditions["veth"]["grid"]["n_threads"] = [1]
    assert worth_showing(shown, conditions)["veth"] == ["speed_and_cost", "counters"]


def test_a_chapter_that_cannot_be_written_is_a_box_among_the_others(
    results: Path, tmp_path: Path
) -> None:
    facts = facts_of(results)
    del facts["method"]["order_seed"]
    (tmp_path / "facts.json").write_text(json.dumps(facts))
    missing = write_report(sources_of(tmp_path), REPORT, "T", tmp_path / "report.qmd")
    ((name, reason),) = missing.items()
    assert name == "method"
    assert "order_seed" in reason
    text = (tmp_path / "report.qmd").read_text()
    assert "`method` could not be written: UndefinedError" in text
    assert "{#sec-method" not in text
    assert "{#sec-answer}" in text
    assert set(re.findall(r"@(sec-[\w-]+)", text)) <= set(re.findall(r"\{#(sec-[\w-]+)", text))


def test_further_studies_have_a_chapter_where_their_facts_are(
    results: Path, tmp_path: Path
) -> None:
    facts = tmp_path / "facts.json"
    facts.write_text('{"answer": 42}')
    drawn = tmp_path / "datagrams" / "losses.svg"
    drawn.parent.mkdir()
    drawn.with_suffix(".csv").write_text("state\nmeasured\n")
    sources = sources_of(results)
    plain = build_context(sources, "T")
    assert plain["figures"]["profile"] == []  # none was drawn, and a chapter may ask for them
    assert plain["chapters"] == []
    assert [plain[name] for name in CHAPTERS] == [None] * len(CHAPTERS)
    more = build_context(
        replace(sources, chapters={"datagrams": facts}, figures=[*sources.figures, drawn]), "T"
    )
    assert more["chapters"] == ["datagrams"]
    assert more["datagrams"] == {"answer": 42}
    assert more["figures"]["datagrams"] == ["losses"]
