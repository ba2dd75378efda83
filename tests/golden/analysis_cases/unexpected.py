"""Question 6: what was unexpected."""

from golden.analysis_facts import (
    CONFIDENCE,
    DOWN,
    EVEN,
    NOT_COPIED,
    NOT_TOLD,
    ONCE,
    UP,
    Case,
    Facts,
    explained,
    factor,
)

_WHERE = {"implementation": "zero_copy", "baseline": "two_copy", "msg_bytes": 16384, "n_threads": 2}


def _finding(
    branch: str, id_: str, quantity: str, found: Facts = UP, where: Facts = _WHERE
) -> Case:
    strongest = {"where": where} | found
    return (
        "finding",
        branch,
        ({"id": id_, "quantity": quantity, "strongest": strongest}, CONFIDENCE),
    )


def _counts(branch: str, held: int, left: int, violated: int) -> Case:
    facts = {"n_held": held, "n_open": left, "n_violated": violated}
    return "counts", branch, (facts | {"n_tested": held + left + violated},)


def _cause(
    id_: str,
    branch: str = "",
    evidence: Facts | None = None,
    quantity: str = "throughput",
    found: Facts | None = None,
) -> Case:
    facts = {"id": id_, "quantity": quantity, "explained": found}
    return "cause", f"{id_}{branch}", (facts, evidence or NOT_TOLD)


_COLD = {"implementation": "zero_copy", "baseline": "two_copy", "hot": "sink", "n_threads": 1}
_SIZES = {"implementation": "two_copy", "from_bytes": 1024, "to_bytes": 4096, "n_threads": 1}
_STEPS = {"implementation": "two_copy", "from_threads": 2, "to_threads": 4, "msg_bytes": 1024}

_FULL = explained("alone", factor("cost", UP), factor("use", EVEN)) | {"throughput": UP}
_SIDES = explained("alone", factor("cost", DOWN), factor("use", EVEN))

CASES: list[Case] = [
    ("nothing", "not tested", ({"verdict": "not_tested", "observed_once": False},)),
    ("nothing", "one expectation, observed once", (
        {"verdict": "none_violated", "n_expectations": 1, "n_checks": 2, "observed_once": True},
    )),
    ("nothing", "several expectations", (
        {"verdict": "none_violated", "n_expectations": 8, "n_checks": 23, "observed_once": False},
    )),
    _finding("cold", "cold_gains_more", "throughput", where=_COLD),
    _finding("along the sizes", "zero_copy_gains_with_size", "throughput", where=_WHERE | _SIZES),
    _finding("throughput", "larger_no_slower", "throughput", DOWN, _SIZES),
    _finding("cost", "one_copy_cheaper", "cost"),
    _finding("observed once", "threads_gain_while_idle", "throughput", ONCE, _STEPS),
    _finding("misses", "one_copy_misses_less", "L1 data cache misses"),
    ("lead", "always", ({"statement": "More threads gain", "because": "They find a CPU."},)),
    _counts("one", 0, 0, 1),
    _counts("all", 0, 0, 4),
    _counts("some", 2, 5, 4),
    _cause("zero_copy_pays", "", NOT_COPIED),
    _cause("copied_gains_nothing"),
    _cause("cold_gains_more"),
    _cause("cold_no_faster"),
    _cause("one_copy_misses_less", quantity="L1 data cache misses"),
    _cause("threads_gain_nothing_when_full", found=_FULL),
    _cause("one_copy_cheaper", quantity="cost", found=_SIDES),
    ("how_tested", "always", (CONFIDENCE,)),
    ("how_sure", "observed once", ({"observed_once": True},)),
    ("how_sure", "several rounds", ({"observed_once": False},)),
]  # fmt: skip
