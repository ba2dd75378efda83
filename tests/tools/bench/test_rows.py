import json
from pathlib import Path

import pytest

from tools.bench.rows import Limit, Row, row_of_rounds, write_rows

AT_LEAST_ONE = Limit("at_least", 1.0)
AT_MOST_HALF = Limit("at_most", 0.5)


def row(value: float | None, limit: Limit | None = None, **rest: float) -> Row:
    return Row("group", "name", value, "s", limit=limit, **rest)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (row(1.2, AT_LEAST_ONE), "ok"),
        (row(1.0, AT_LEAST_ONE), "ok"),
        (row(0.9, AT_LEAST_ONE), "under"),
        (row(0.4, AT_MOST_HALF), "ok"),
        (row(0.6, AT_MOST_HALF), "over"),
        (row(1.2, AT_LEAST_ONE, low=1.1, high=1.3), "ok"),
        (row(1.2, AT_LEAST_ONE, low=0.9, high=1.3), "unsure"),
        (row(0.9, AT_LEAST_ONE, low=0.8, high=1.1), "unsure"),
        (row(7.0), ""),
        (row(None, AT_LEAST_ONE), "not measured"),
    ],
)
def test_verdict_compares_with_the_limit_and_is_unsure_where_the_interval_holds_it(
    found: Row, verdict: str
) -> None:
    assert found.verdict == verdict


def test_rounds_become_their_median_and_its_interval() -> None:
    few = row_of_rounds("group", "name", [3.0, 1.0, 2.0], "s")
    many = row_of_rounds("group", "name", [3.0, 1.0, 2.0] * 10, "s")
    assert (few.value, few.n, many.value, many.n) == (2.0, 3, 2.0, 30)
    assert few.low is not None
    assert few.high is not None
    assert many.low is not None
    assert many.high is not None
    assert few.low < many.low < 2.0 < many.high < few.high


def test_json_holds_every_row_with_its_verdict(tmp_path: Path) -> None:
    rows = [row(0.9, AT_LEAST_ONE), row(None)]
    path = tmp_path / "results/bench.json"
    write_rows(rows, {"kernel": "6.1"}, path)
    written = json.loads(path.read_text())
    assert next(iter(written)) == "schema_version"
    assert written["host"] == {"kernel": "6.1"}
    assert [found["verdict"] for found in written["rows"]] == ["under", "not measured"]
    assert written["rows"][0]["limit"] == {"bound": "at_least", "value": 1.0}
    assert written["rows"][1]["limit"] is None
