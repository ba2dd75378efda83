"""Claims are judged by the cells: on published runs, and on tables made for each verdict."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from unit.audit.made import Model, make_table, read_frame

from copycost.audit.claims.parse import parse_claim, read_claims
from copycost.audit.claims.verdicts import JudgedClaim, judge_claim
from copycost.audit.dataset import Dataset
from copycost.audit.mapping import FileMapping
from copycost.audit.plausibility import check_plausibility
from copycost.audit.reader import read_dataset
from copycost.errors import ConfigError

pytestmark = pytest.mark.slow

PUBLISHED = Path(__file__).parents[3] / "data" / "published"
CAREFUL_READER = {
    "ryzen-7840hs": [
        "supported", "supported", "not measured", "supported", "supported", "supported",
        "supported",
    ],
    "i5-10500": [
        "supported", "contradicted", "supported", "contradicted", "contradicted", "contradicted",
        "supported",
    ],
}  # fmt: skip


def verdicts(dataset: Dataset, path: Path) -> list[str]:
    findings = check_plausibility(dataset)
    return [judge_claim(claim, dataset, findings).verdict for claim in read_claims(path, dataset)]


def judge_of(table: pd.DataFrame, folder: Path) -> Callable[..., JudgedClaim]:
    """Read and check a table once, for all claims that are made of it."""
    dataset = read_frame(table, folder)
    findings = check_plausibility(dataset)
    return lambda **said: judge_claim(parse_claim(said), dataset, findings)


@pytest.mark.parametrize("name", CAREFUL_READER)
def test_published_claims_get_the_verdicts_of_a_careful_reader(name: str) -> None:
    dataset = read_dataset(PUBLISHED / f"{name}.csv", FileMapping())
    assert verdicts(dataset, PUBLISHED / f"{name}.claims.yaml") == CAREFUL_READER[name]


def test_a_contradiction_names_its_cells() -> None:
    dataset = read_dataset(PUBLISHED / "i5-10500.csv", FileMapping())
    findings = check_plausibility(dataset)
    claims = read_claims(PUBLISHED / "i5-10500.claims.yaml", dataset)
    (evidence,) = judge_claim(claims[1], dataset, findings).evidence
    assert evidence.startswith(
        "256\u00a0KiB, 8 threads: one_copy 21.71\u00a0Gbit/s, two_copy 34.89"
    )


def beats(first: str, second: str, is_: str = "more", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"metric": "throughput", "implementation": first, "with": second, "is": is_, **more}


def flat(ratios: dict[str, float], noise: float = 0.0, repetitions: int = 1) -> pd.DataFrame:
    """Return a table in which an implementation has the same multiple of throughput everywhere."""
    table = make_table(Model(repetitions=repetitions, seed=5))
    wobble = make_table(Model(repetitions=repetitions, seed=6, noise=max(noise, 1e-9)))
    base = make_table(Model(repetitions=repetitions, seed=6, noise=1e-9))
    factor = wobble["throughput_gbps"] / base["throughput_gbps"]
    return table.assign(throughput_gbps=10 * table["impl"].map(ratios) * factor)


@pytest.mark.parametrize("is_", ["same", "more", "collapses"])
def test_values_that_are_worlds_apart_leave_a_claim_undecided(is_: str, tmp_path: Path) -> None:
    table = make_table(Model(repetitions=2))
    table["throughput_gbps"] = [1e-38, 1e20, 1e20] * (len(table) // 3)
    judged = judge_of(table, tmp_path)
    assert judged(compare=beats("one_copy", "zero_copy", is_)).verdict == "undecided"


def test_a_rank_counts_only_the_rounds_with_a_value_above_zero(tmp_path: Path) -> None:
    table = make_table(Model(repetitions=2)).assign(throughput_gbps=lambda t: t["rep"] - 1)
    best = {"metric": "throughput", "implementation": "one_copy", "is": "best"}
    found = judge_of(table, tmp_path)(rank=best)
    assert (found.verdict, found.observed_once) == ("contradicted", True)


def test_less_below_is_part_of_the_claim(tmp_path: Path) -> None:
    table = flat({"two_copy": 1.0, "one_copy": 1.2, "zero_copy": 0.8})
    said = beats("one_copy", "two_copy", from_size=16384)
    judged = judge_of(table, tmp_path)
    assert judged(compare=said).verdict == "supported"
    said["below"] = "less"
    assert judged(compare=said).verdict == "contradicted"


def test_implementations_go_by_the_names_of_the_file_too(tmp_path: Path) -> None:
    table = flat({"two_copy": 1.0, "one_copy": 1.2, "zero_copy": 0.8})
    table["impl"] = table["impl"].map({"two_copy": "A1", "one_copy": "A2", "zero_copy": "A3"})
    judged = judge_of(table, tmp_path)
    for first, second in (("A2", "A1"), ("one_copy", "two_copy"), ("A2", "two_copy")):
        assert judged(compare=beats(first, second)).verdict == "supported"


def test_growth_from_thread_count_to_thread_count(tmp_path: Path) -> None:
    table = flat({"two_copy": 1.0, "one_copy": 1.0, "zero_copy": 1.0})
    table["throughput_gbps"] *= table["threads"] ** 1.5
    grows = {"metric": "throughput", "from": {"threads": 1}, "to": {"threads": 4}, "is": "grows"}
    judged = judge_of(table, tmp_path)
    assert judged(change=grows | {"factor": 8}).verdict == "supported"
    assert judged(change=grows | {"factor": 6}).verdict == "contradicted"
    assert judged(change=grows | {"at_least": 5}).verdict == "supported"
    assert judged(change=grows | {"at_most": 5}).verdict == "contradicted"
    beyond = grows | {"to": {"threads": 16}}
    assert judged(change=beyond).verdict == "not measured"


def test_ranks_and_values(tmp_path: Path) -> None:
    table = flat({"two_copy": 1.0, "one_copy": 1.2, "zero_copy": 0.8})
    best = {"metric": "throughput", "implementation": "one_copy", "is": "best"}
    judged = judge_of(table, tmp_path)
    assert judged(rank=best).verdict == "supported"
    assert judged(rank=best | {"is": "worst"}).verdict == "contradicted"
    assert judged(rank=best | {"metric": "p99"}).verdict == "not measured"
    above = {"metric": "throughput", "is": "above", "than": 7e9}
    assert judged(value=above).verdict == "supported"
    assert judged(value=above | {"than": 9e9}).verdict == "contradicted"


def test_what_reads_zero_was_not_measured(tmp_path: Path) -> None:
    table = make_table().assign(LLC=0)
    zero = {"metric": "llc_misses", "is": "zero"}
    judged = judge_of(table, tmp_path)
    assert judged(value=zero).verdict == "not measured"
    measurements = {"metrics": ["llc_misses"]}
    assert judged(measurements=measurements).verdict == "not measured"


def test_all_problems_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text("claims:\n- {compare: 3}\n- {value: {metric: a, is: zero}}\n- 7\n")
    dataset = read_frame(make_table(), tmp_path)
    with pytest.raises(ConfigError) as refused:
        read_claims(path, dataset)
    assert [f"claim {n}" in str(refused.value) for n in (1, 2, 3)] == [True] * 3


def test_a_claim_in_words_alone_is_undecided_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text("- zero-copy is the future of networking\n", encoding="utf-8")
    dataset = read_frame(make_table(), tmp_path)
    (claim,) = read_claims(path, dataset)
    found = judge_claim(claim, dataset, [])
    assert found.verdict == "undecided"
    assert found.because.code == "only_words"
