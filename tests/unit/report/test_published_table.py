"""The table of a pair along the sizes, here and in a published run."""

from typing import Any

from copycost.report.tables import along_sizes, published_rows

KIB = 1024
SIZES = (KIB, 4 * KIB, 16 * KIB)


def along(outcome: str, **changed: Any) -> dict[str, Any]:  # noqa: ANN401
    sides = {side: changed.pop(side, []) for side in ("better", "worse", "even")}
    every = sorted({size for side in sides.values() for size in side})
    facts = {"outcome": outcome, "sizes": sides, "all_sizes": every, "missing": []}
    return facts | {"observed_once": False} | changed


def words(found: dict[str, Any]) -> str:
    return along_sizes(found).replace("\u00a0", " ")


def test_each_outcome_in_a_few_words() -> None:
    assert words(along("always", better=SIZES)) == "faster at every size"
    assert words(along("never", worse=SIZES)) == "slower at every size"
    assert words(along("not_measured")) == "not compared"
    found = along("from", better=[16 * KIB, 64 * KIB], worse=[KIB, 4 * KIB])
    assert words(found) == "faster from 16 KiB up; slower up to 4 KiB"
    found = along("up_to", better=[KIB], worse=[16 * KIB], even=[4 * KIB], observed_once=True)
    said = "faster at 1 KiB; slower at 16 KiB; no difference at 4 KiB (observed once)"
    assert words(found) == said
    assert (
        words(along("mixed", better=[4 * KIB], worse=[KIB])) == "faster at 4 KiB; slower at 1 KiB"
    )
    found = along("from", better=[16 * KIB, 256 * KIB], worse=[KIB, 4 * KIB], even=[64 * KIB])
    said = "faster at 16 KiB and 256 KiB; slower up to 4 KiB; no difference at 64 KiB"
    assert words(found) == said
    found = along("undecided", even=[KIB], missing=[4 * KIB])
    assert words(found) == "no difference at any size; not compared at 4 KiB"


def test_thread_counts_that_fared_alike_share_a_row() -> None:
    never, always = along("never", worse=SIZES), along("always", better=SIZES)
    rows = [{"n_threads": n, "ours": never, "theirs": always} for n in (1, 2)]
    rows.append({"n_threads": 4, "ours": always, "theirs": always})
    run = {
        "title": "One",
        "crossovers": [{"implementation": "one_copy", "baseline": "two_copy", "rows": rows}],
    }
    found = [[cell.replace("\u00a0", " ") for cell in row] for row in published_rows([run])]
    pair = "`one_copy` against `two_copy`"
    assert found == [
        ["One", pair, "1 and 2", "slower at every size", "faster at every size"],
        ["One", pair, "4", "faster at every size", "faster at every size"],
    ]
