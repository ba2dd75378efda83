"""Verdicts follow from intervals, whatever the kind of claim and of how many cells it speaks."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from unit.compare.audit.made import GUESSED, PUBLISHED, honest, read_frame

from copycost.compare.audit.claims.parse import parse_claim, read_claims
from copycost.compare.audit.claims.statements import Unclear
from copycost.compare.audit.claims.verdicts import JudgedClaim, judge_claim
from copycost.compare.audit.dataset import Dataset
from copycost.compare.audit.plausibility import check_plausibility
from copycost.compare.audit.reader import read_dataset
from copycost.errors import ConfigError
from tools.simulation.claims import N_CELLS, N_THREADS, SIZES, dataset_of

SPREAD = np.array([-1.0, 0.0, 1.0])
"""Three rounds: a t interval of a mean is 2.48 times as wide on either side."""
SHAPE = (len(SIZES), len(N_THREADS))


def made(ratios: object, spread: float = 0.01, rounds: np.ndarray = SPREAD) -> Dataset:
    """Return a table in which one_copy has so many times two_copy's throughput, cell by cell."""
    factors = np.broadcast_to(np.array(ratios, dtype=float), SHAPE)
    noise = np.exp(spread * rounds)
    base = np.full((1, *SHAPE, rounds.size), 1e9)
    return dataset_of({"one_copy": base * factors[..., None] * noise, "two_copy": base})


ONE = {"metric": "throughput", "implementation": "one_copy"}
BOTH = ONE | {"with": "two_copy"}
BEST = ONE | {"is": "best"}
ABOVE = {"metric": "throughput", "is": "above", "than": 1e9, "implementations": "one_copy"}


def judged(dataset: Dataset, **said: Any) -> JudgedClaim:  # noqa: ANN401
    return judge_claim(parse_claim(said), dataset, [])


def beats(is_: str = "more", **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {**BOTH, "is": is_, **more}


CAREFUL_READER = {
    "ryzen-7840hs": (
        {("zeros", "llc_misses")},
        ["supported", "supported", "not measured", "supported", "supported", "supported",
         "supported"],
    ),
    "i5-10500": (
        {("formula", "cycles"), ("formula", "l1d_misses"), ("formula", "llc_misses"),
         ("formula", "context_switches"), ("derived", "latency"), ("limits", "cycles")},
        ["supported", "contradicted", "supported", "contradicted", "contradicted", "contradicted",
         "supported"],
    ),
}  # fmt: skip
"""By published run: the checks that find something in a column, and the verdicts on its claims."""


@pytest.mark.slow
@pytest.mark.parametrize("name", CAREFUL_READER)
def test_published_runs_and_claims_are_judged_as_a_careful_reader_does(name: str) -> None:
    dataset = read_dataset(PUBLISHED / f"{name}.csv", GUESSED)
    findings = check_plausibility(dataset)
    told = {(one.check, column) for one in findings for column in one.quantities}
    claims = read_claims(PUBLISHED / f"{name}.claims.yaml", dataset)
    verdicts = [judge_claim(claim, dataset, findings).verdict for claim in claims]
    assert ({one for one in told if one[0] != "incomplete"}, verdicts) == CAREFUL_READER[name]


@pytest.mark.parametrize(
    ("ratio", "spread", "said", "verdict"),
    [
        # A value amid a wide interval supports nothing.
        *((1.22, spread, {"is": "more"} | amount, verdict)
          for spread, verdict in ((0.3, "undecided"), (0.0005, "supported"))
          for amount in ({"percent": 22}, {"factor": 1.22}, {"at_least": 1.2},
                         {"percent": 22, "tolerance": 1})),
        (1.22, 0.0005, {"is": "more", "percent": 30}, "contradicted"),
        (1.04, 0.001, {"is": "same"}, "supported"),
        (1.3, 0.001, {"is": "same"}, "contradicted"),
        (0.6, 0.001, {"is": "same", "factor": 2}, "supported"),
        (1.3, 0.001, {"is": "not more", "percent": 10}, "contradicted"),
        (0.95, 0.001, {"is": "not less", "factor": 1.2}, "supported"),
        (0.6, 0.001, {"is": "collapses"}, "contradicted"),
        (0.4, 0.001, {"is": "less", "at_least": 2, "at_most": 2.2}, "contradicted"),
        (0.7, 0.001, {"is": "falls", "percent": 30}, "supported"),
        (1.2, 0.01, {"is": "more", "from_size": SIZES[1]}, "supported"),
        (1.2, 0.01, {"is": "more", "from_size": SIZES[1], "below": "less"}, "contradicted"),
        (0.98, 0.5, ABOVE, "undecided"),
        (1.1, 0.01, ABOVE, "supported"),
        (0.9, 0.01, ABOVE | {"is": "below"}, "supported"),
        (1.0, 0.01, ABOVE | {"than": -1}, "supported"),
    ],
)  # fmt: skip
def test_values_and_ratios_are_judged_by_their_intervals(
    ratio: float, spread: float, said: dict[str, Any], verdict: str
) -> None:
    kind = {"value": said} if "than" in said else {"compare": beats() | said}
    assert judged(made(ratio, spread), **kind).verdict == verdict


def test_a_rank_counts_only_the_rounds_with_a_value_above_zero() -> None:
    dataset = made(1.5, rounds=np.zeros(2))
    dataset.table["throughput"] *= dataset.table["rep"] - dataset.table["rep"].min()
    found = judged(dataset, rank=BEST)
    assert (found.verdict, found.observed_once) == ("supported", True)
    assert judged(dataset, rank=BEST | {"is": "worst"}).verdict == "contradicted"
    assert judged(dataset, rank=BEST | {"metric": "p99"}).verdict == "not measured"


def test_growth_from_thread_count_to_thread_count() -> None:
    dataset = made(1.0, spread=0.001)
    dataset.table["throughput"] *= dataset.table["n_threads"] ** 1.5
    grows = {"metric": "throughput", "from": {"threads": 1}, "to": {"threads": 4}, "is": "grows"}
    for amount, verdict in (
        ({"factor": 8}, "supported"), ({"factor": 6}, "contradicted"),
        ({"at_least": 5}, "supported"), ({"at_most": 5}, "contradicted"),
        ({"to": {"threads": 16}}, "not measured"),
    ):  # fmt: skip
        assert judged(dataset, change=grows | amount).verdict == verdict, amount


def test_what_reads_zero_was_not_measured(tmp_path: Path) -> None:
    dataset = read_frame(honest().assign(LLC=0), tmp_path)
    findings = check_plausibility(dataset)
    for said in ({"value": {"metric": "llc_misses", "is": "zero"}},
                 {"measurements": {"metrics": ["llc_misses"]}}):  # fmt: skip
        found = judge_claim(parse_claim(said), dataset, findings)
        assert found.verdict == "not measured"


def test_what_counted_once_is_not_zero() -> None:
    dataset = made(1.0)
    counts = np.zeros(len(dataset.table))
    counts[0] = 1
    dataset.table["context_switches"] = counts
    zero = {"metric": "context_switches", "is": "zero"}
    found = judged(dataset, value=zero)
    assert found.verdict == "contradicted"
    assert "1 against" in found.because
    assert judged(dataset, value=zero, **{"in": "most"}).verdict == "supported"
    assert judged(dataset, value=zero | {"is": "not zero"}).verdict == "contradicted"


def test_costs_follow_from_totals_and_bytes() -> None:
    # As many cycles for twice the bytes: half the cost of a byte.
    dataset = made(2.0)
    less = beats("less", metric="cycles_per_byte", at_least=1.9, at_most=2.1)
    assert judged(dataset, compare=less).verdict == "supported"
    per_message = beats("less", metric="cycles per message")
    assert judged(dataset, compare=per_message).verdict == "supported"
    value = {"metric": "cycles_per_byte", "is": "above", "than": 5}
    assert judged(dataset, value=value).verdict == "supported"
    dataset.table["bytes"] = np.nan
    assert judged(dataset, compare=less).because.endswith(
        "nor everything from which it would follow."
    )


@pytest.mark.parametrize("kind", ["compare", "rank", "change", "value", "crossover"])
def test_deleted_cells_leave_it_undecided(kind: str) -> None:
    """Where the cells that contradict a claim are deleted, the others do not support it."""
    ratios = np.full(SHAPE, 1.3)
    ratios[1, 1] = 0.7
    claim: dict[str, Any] = {
        "compare": {"compare": beats()},
        "rank": {"rank": BEST},
        "change": {"change": {"metric": "throughput", "from": {"implementation": "two_copy"},
                              "to": {"implementation": "one_copy"}, "is": "grows"}},
        "value": {"value": {"metric": "throughput", "is": "above", "than": 0.9e9}},
        "crossover": {"crossover": BOTH | {"from": "1KiB"}},
    }[kind]  # fmt: skip
    whole = made(ratios)
    assert kind == "crossover" or judged(whole, **claim).verdict == "contradicted"
    for gap in (f"msg_bytes == {SIZES[1]} and n_threads == 4 and implementation == 'one_copy'",
                f"msg_bytes == {SIZES[1]} and n_threads == 4"):  # fmt: skip
        table = whole.table.query(f"not ({gap})", engine="python").reset_index(drop=True)
        found = judged(replace(whole, table=table), **claim)
        assert found.verdict == "undecided", gap
        assert kind == "crossover" or "missing" in found.label, gap


def cells(n_more: int, n_less: int) -> np.ndarray:
    """Return ratios: so many surely above 1, so many surely below, and ties for the rest."""
    ties = N_CELLS - n_more - n_less
    return np.array([1.5] * n_more + [0.5] * n_less + [1.0] * ties).reshape(SHAPE)


@pytest.mark.parametrize(
    ("n_more", "n_less", "verdicts"),
    [
        (8, 0, ("supported", "supported", "supported")),
        (5, 0, ("undecided", "supported", "supported")),
        (4, 0, ("undecided", "undecided", "supported")),
        (7, 1, ("contradicted", "supported", "supported")),
        (4, 4, ("contradicted", "contradicted", "supported")),
        (0, 7, ("contradicted", "contradicted", "undecided")),
        (0, 8, ("contradicted", "contradicted", "contradicted")),
        (0, 0, ("undecided", "undecided", "undecided")),
    ],
)
def test_in_all_most_or_some(n_more: int, n_less: int, verdicts: Sequence[str]) -> None:
    dataset = made(cells(n_more, n_less))
    found = [
        judged(dataset, compare=beats(), **{"in": in_}).verdict for in_ in ("all", "most", "some")
    ]
    assert tuple(found) == tuple(verdicts)


def test_single_rounds_are_told_from_repeated_ones() -> None:
    once = made(cells(4, 4), rounds=np.zeros(1))
    for in_, verdict in (("all", "contradicted"), ("most", "contradicted"), ("some", "supported")):
        found = judged(once, compare=beats(), **{"in": in_})
        assert (found.verdict, found.observed_once) == (verdict, True)
    # A verdict that repeated cells carry alone does not rest on one that was measured once.
    mixed = made(cells(4, 4))
    table = mixed.table
    table.loc[(table["msg_bytes"] == SIZES[0]) & (table["rep"] > 1), "throughput"] = np.nan
    found = judged(mixed, compare=beats())
    assert (found.verdict, found.observed_once) == ("contradicted", False)


RISING, FALLING = (0.7, 0.8, 1.3, 1.5), (1.4, 1.3, 0.8, 0.7)
ABOVE_ALL, BELOW_ALL = (1.4, 1.3, 1.2, 1.2), (0.7, 0.7, 0.8, 0.8)


@pytest.mark.parametrize(
    ("curve", "said", "verdict"),
    [
        (RISING, {"from": "10KiB"}, "compatible"),
        (RISING, {"from": "16KiB"}, "supported"),
        (RISING, {"from": "4KiB"}, "contradicted"),
        (RISING, {"from": "20KiB"}, "contradicted"),
        (RISING, {"up_to": "10KiB"}, "contradicted"),
        (FALLING, {"up_to": "4KiB"}, "supported"),
        (FALLING, {"up_to": "15KiB"}, "compatible"),
        (FALLING, {"from": "10KiB"}, "contradicted"),
        (ABOVE_ALL, {"from": "10KiB"}, "contradicted"),
        (ABOVE_ALL, {"from": "1KiB"}, "undecided"),
        (BELOW_ALL, {"from": "10KiB"}, "contradicted"),
        (BELOW_ALL, {"from": "1MiB"}, "undecided"),
        ((0.7, 0.8, 1.0, 1.5), {"from": "10KiB"}, "undecided"),
    ],
)
def test_crossovers_are_judged_by_their_bracket(
    curve: Sequence[float], said: dict[str, str], verdict: str
) -> None:
    dataset = made(np.array(curve)[:, None], 0.003)
    assert judged(dataset, crossover=BOTH | said).verdict == verdict


def test_one_thread_count_may_contradict_a_crossover() -> None:
    ratios = np.array([[0.7, 1.3], [0.8, 1.3], [1.3, 1.3], [1.3, 1.3]])
    dataset = made(ratios, 0.003)
    said = {"crossover": BOTH | {"from": "16KiB"}}
    assert judged(dataset, **said).verdict == "contradicted"
    assert judged(dataset, **said, **{"in": "some"}).verdict == "supported"
    assert judged(dataset, **said, threads=1).verdict == "supported"


NESTED: list[Any] = []
NESTED.append(NESTED)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"compare": {"metric": "speed of light"}}, "implementation is missing"),
        ({"rank": {"metric": "threads", "implementation": "a", "is": "best"}}, "neither good"),
        ({"change": {"metric": "cycles", "from": {}, "to": {}, "is": "falls"}}, "the same of"),
        ({"change": {"metric": "cycles", "from": {"threads": 1}, "to": {"size": 1},
                     "is": "falls"}}, "the same of"),
        ({"value": {"metric": "cycles", "is": "above"}}, "than"),
        ({"claim": "x", "verb": 1}, "verb: unknown key"),
        ({"claim": ["x"]}, "claim: got"),
        ({"compare": beats(), "sizes": 2**90}, "must be a size from"),
        ({"compare": beats(), "threads": list(range(1, 200))}, "a list of 199"),
        ({"compare": beats(), "in": "few"}, "in: got 'few'"),
        ({"measurements": {"metrics": ["cycles"]}, "in": "most"}, "in: belongs to"),
        ({"compare": beats(percent=10**400)}, "percent: got"),
        ({"compare": beats("more", at_least=3, at_most=2)}, "must not be below"),
        ({"compare": beats("more", percent=3, factor=2)}, "must be"),
        ({"compare": beats() | {"implementation": NESTED}}, "implementation: got"),
        ({"crossover": BOTH | {"from": 1, "up_to": 2}}, "one of from and up_to"),
        ({"crossover": BOTH | {"from": 1, "metric": "bytes"}}, "neither good nor bad"),
    ],
)  # fmt: skip
def test_odd_claims_are_refused_in_a_sentence(said: dict[str, Any], problem: str) -> None:
    with pytest.raises(Unclear, match=problem):
        parse_claim(said)


def test_all_problems_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text("claims:\n- {compare: 3}\n- {value: {metric: a, is: zero}}\n- 7\n- words\n")
    with pytest.raises(ConfigError) as refused:
        read_claims(path, made(1.0))
    assert [f"claim {n}" in str(refused.value) for n in (1, 2, 3, 4)] == [True] * 3 + [False]
