"""What a sceptic plants is found, by the check that is for it; and what cannot be is not."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from unit.audit.made import findings_of, words_of
from unit.audit.planted import FAULTS, NOT_FOUND, honest, planted
from unit.audit.suspicious import FAULTS as SUSPICIOUS

from copycost.audit.plausibility.finding import declared

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
    assert {code for code, _ in new} & set(fault.codes), found


@pytest.mark.parametrize("fault", SUSPICIOUS)
def test_a_suspicious_column_is_found(fault: str, tmp_path: Path) -> None:
    findings = findings_of(SUSPICIOUS[fault](), tmp_path)
    assert fault.partition(",")[0] in {one.code for one in findings if words_of(one)}


def test_every_finding_is_planted_somewhere() -> None:
    shown = {code for fault in FAULTS.values() for code in fault.codes}
    shown |= {fault.partition(",")[0] for fault in SUSPICIOUS}
    assert shown | {"more_round_trips_than_time", "short_round_trips"} == set(declared())


@pytest.mark.parametrize("name", NOT_FOUND)
def test_what_looks_like_a_measurement_is_not_refuted(name: str, tmp_path: Path) -> None:
    findings = findings_of(planted(NOT_FOUND[name]), tmp_path)
    assert not any(finding.refutes for finding in findings)


@pytest.mark.parametrize("name", NOT_FOUND)
def test_what_no_check_finds_is_documented(name: str) -> None:
    page = Path(__file__).parents[3] / "docs" / "audit.md"
    assert name in page.read_text(encoding="utf-8")
