"""What a sceptic plants is found, by the check that is for it; and what cannot be is not."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from unit.compare.audit.made import findings_of, honest, words_of
from unit.compare.audit.planted import FAULTS, NOT_FOUND, planted

from copycost.compare.audit.plausibility.sample import declared

pytestmark = pytest.mark.slow


@cache
def usual(repetitions: int, digits: int | None) -> set[tuple[str, tuple[str, ...]]]:
    """Return what is found in a table in which nothing was planted."""
    with TemporaryDirectory() as folder:
        found = findings_of(honest(repetitions, digits), Path(folder))
    return {(one.code, one.cells) for one in found}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    findings = findings_of(planted(fault), tmp_path)
    assert all(len(words_of(one)) > len(one.code) for one in findings)
    found = {(one.code, one.cells) for one in findings}
    new = found - usual(fault.repetitions, fault.digits)
    assert {code for code, _ in new} & set(fault.codes.split()), found


@pytest.mark.parametrize(
    ("factor", "cause"),
    [
        (1 / 8, "bits were taken for bytes"),
        (1e-3, "a prefix (k, M, G) is wrong"),
        (1 / 1.048576, "2^20 was taken for 10^6"),
        (1.37, "1.37"),
    ],
)
def test_what_columns_disagree_by_tells_a_cause(factor: float, cause: str, tmp_path: Path) -> None:
    table = honest(digits=8)
    table = table.assign(throughput_gbps=table["throughput_gbps"] * factor)
    said = [words_of(one) for one in findings_of(table, tmp_path) if one.check == "consistency"]
    assert any(cause in words for words in said), said


def test_a_single_row_has_its_words_too(tmp_path: Path) -> None:
    findings = findings_of(honest(1).head(1).assign(LLC=0), tmp_path)
    assert {"zeros", "one_repetition"} <= {one.code for one in findings if words_of(one)}


def test_every_finding_is_planted_somewhere() -> None:
    shown = {code for fault in FAULTS.values() for code in fault.codes.split()}
    of_round_trips = {"more_round_trips_than_time", "short_round_trips"}
    assert shown | {"one_repetition"} | of_round_trips == set(declared())


@pytest.mark.parametrize("name", NOT_FOUND)
def test_what_looks_like_a_measurement_is_not_refuted(name: str, tmp_path: Path) -> None:
    findings = findings_of(planted(NOT_FOUND[name]), tmp_path)
    assert not any(finding.refutes for finding in findings)
    page = Path(__file__).parents[4] / "docs" / "audit.md"
    assert name in page.read_text(encoding="utf-8")
