"""Five questions that the first page has to answer, of runs of every kind.

Which way at a size; is it settled; on what machine; does it hold on a network card; how much CPU
do 10 Gbit/s take. The terminal says the same.
"""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from golden.sentences import environment
from report.example import sources_of, write_results
from synthetic import Run, Truth, Udp

from copycost.report.decisions_command import answer_lines
from copycost.report.write import build_context, fill_report
from copycost.wording.words import one_line

pytestmark = pytest.mark.slow

KIB, MIB = 1 << 10, 1 << 20
GRID = {"msg_bytes": (4 * KIB, 64 * KIB, MIB), "n_threads": (1, 2), "repetitions": 7}
UNEXPLAINED = r"\b(?:cells?|rounds?|hot|cold|slugs?|conditions?|implementations?)\b"


def of_sizes(**leads: tuple[float, float, float]) -> Truth:
    """Return the leads of ways at 4 KiB, 64 KiB and 1 MiB."""
    return lambda name, size, n_threads: leads.get(name, (0.0, 0.0, 0.0))[
        GRID["msg_bytes"].index(size)  # type: ignore[attr-defined]
    ]


LOSES = of_sizes(one_copy=(-0.2, 0.3, 0.2), zero_copy=(-0.5, -0.5, -0.5))


SETTLED = Run(**GRID, log_ratio=LOSES, noise=0.01)
# a run, and what a reader must find on its first page: how much is settled, and of a real card
PAGES = {
    "settled": (
        SETTLED,
        "Of 6 answers, 6 are settled",
        "Not measured. A bound at 1 MiB, where the kernel copies after all (",
    ),
    "nobody receives": (
        replace(SETTLED, udp=Udp(msg_bytes=(64 * KIB - 29,))),
        "Of 10 answers, 10 are settled",
        "Not measured. A bound at 65,507 B, where zero-copy is real and there is no receiver (",
    ),
}
FASTEST = {
    "4 KiB": "`two_copy`, then `one_copy`", "64 KiB": "`one_copy`", "1 MiB": "`one_copy`",
}  # fmt: skip
MACHINE = "Model CPU, 2 CPUs, a virtual machine, Linux 6.18.0, 1970-01-01"


@pytest.fixture(scope="module", params=PAGES)
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str, str]:
    """The results that a page is written from, and what it must say."""
    folder = tmp_path_factory.mktemp("results")
    run, settled, card = PAGES[request.param]
    write_results(run, folder)
    return folder, settled, card


def words(text: str) -> list[str]:
    return text.replace(",", "").split()


def report(folder: Path) -> str:
    context = build_context(sources_of(folder), "What does each copy cost?")
    text, missing = fill_report(environment(), context)
    assert not missing
    return text.replace("\u00a0", " ")


def fastest_by_size(page: str, condition: str) -> dict[str, list[str]]:
    """Return the cells of each row of a condition's table, by the size."""
    table, _, _ = page.partition(f"{{#tbl-{condition}-decision}}")
    rows = re.findall(r"^\| (\d+ [KM]iB) +\| (.*) \|$", table[table.rindex("| Message") :], re.M)
    return {size: [cell.strip() for cell in cells.split("|")] for size, cells in rows}


def test_first_page_answers_five_questions(made: tuple[Path, str, str]) -> None:
    folder, settled, card = made
    text = report(folder)
    page = text.partition("#outline(")[0]
    prose = one_line(page)
    rows = fastest_by_size(text, "veth")
    # Which way? Of two that are not told apart, either may come first.
    for size, ways in FASTEST.items():
        assert sorted(words(rows[size][0])) == sorted(words(ways))
    assert settled in prose
    assert f'subtitle: "{MACHINE}"' in page
    assert f"**On a real network card.** {card}" in prose
    # How much CPU do 10 Gbit/s take?
    facts = json.loads((folder / "facts.json").read_text())
    (_, _, row) = facts["conditions"]["veth"]["decisions"]["rows"]
    low, high = (float(cpus) for cpus in rows["1 MiB"][4].split(" to "))
    assert (low, high) == pytest.approx((row["price"]["low"], row["price"]["high"]), rel=0.05)
    assert "**How clean the run was.** All" in prose
    unexplained = re.search(UNEXPLAINED, re.sub(r"`[^`]*`|\{[^}]*\}", "", prose.split("---")[-1]))
    assert unexplained is None, unexplained[0]


def test_terminal_answers_the_same(made: tuple[Path, str, str]) -> None:
    folder, settled, card = made
    lines = list(answer_lines(json.loads((folder / "facts.json").read_text())))
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    for size, ways in FASTEST.items():
        _, _, rest = text.rpartition(f" {size} fastest ")
        said = re.sub(r" [\d.]+(?: \([^)]*\))?", "", rest.partition(" cheapest ")[0])
        assert sorted(words(said)) == sorted(words(ways.replace("`", "")))
    assert settled in text.replace("*", "")
    assert card in text
    assert f"Measured on {MACHINE}." in text


def test_a_way_that_was_copied_bears_a_mark_and_is_explained_once(tmp_path: Path) -> None:
    write_results(Run(**GRID, log_ratio=of_sizes(zero_copy=(0.3, 0.3, 0.3)), noise=0.01), tmp_path)
    page = report(tmp_path)
    assert [cells[0] for cells in fastest_by_size(page, "veth").values()] == [r"`zero_copy`\*"] * 3
    by_size = page.partition("{#sec-decisions}")[2].partition("{#sec-")[0]
    assert by_size.count("100 % copied") == 1
