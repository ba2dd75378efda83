"""Question 6: what was unexpected."""

from golden.analysis_facts import (
    CONFIDENCE,
    COPIED,
    DOWN,
    HARDLY,
    NOT_COPIED,
    NOT_TOLD,
    ONCE,
    PARTLY,
    UP,
    Case,
    Facts,
)

_WHERE = {"implementation": "zero_copy", "baseline": "two_copy", "msg_bytes": 16384, "n_threads": 2}


def _finding(
    branch: str, id_: str, quantity: str, found: Facts = UP, where: Facts = _WHERE
) -> Case:
    strongest = {"sure": True, "where": where} | found
    return (
        "finding",
        branch,
        ({"id": id_, "quantity": quantity, "strongest": strongest}, CONFIDENCE),
    )


def _counts(branch: str, held: int, left: int, violated: int) -> Case:
    facts = {"n_held": held, "n_open": left, "n_violated": violated}
    return "counts", branch, (facts | {"n_tested": held + left + violated},)


def _cause(id_: str, branch: str = "", evidence: Facts | None = None) -> Case:
    return "cause", f"{id_}{branch}", ({"id": id_}, evidence or NOT_TOLD)


def _sure_of(branch: str, once: bool, *n_sure: int) -> Case:
    facts = {"observed_once": once, "violations": [{"n_sure": n} for n in n_sure]}
    return "how_sure", branch, (facts, CONFIDENCE)


_COLD = {"implementation": "zero_copy", "baseline": "two_copy", "hot": "sink", "n_threads": 1}
_SIZES = {"implementation": "two_copy", "from_bytes": 1024, "to_bytes": 4096, "n_threads": 1}
_STEPS = {"implementation": "two_copy", "from_threads": 2, "to_threads": 4, "msg_bytes": 1024}

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
    _finding("cost, not sure", "one_copy_cheaper", "cost", UP | {"sure": False}),
    _finding("service time, observed once", "service_time_rises", "service time", ONCE, _STEPS),
    _finding("misses", "one_copy_misses_less", "L1 data cache misses"),
    _counts("one", 0, 0, 1),
    _counts("all", 0, 0, 4),
    _counts("some", 2, 5, 4),
    _cause("zero_copy_pays", ", all copied", COPIED),
    _cause("zero_copy_pays", ", hardly any not copied", HARDLY),
    _cause("zero_copy_pays", ", a part copied", PARTLY),
    _cause("zero_copy_pays", ", none copied", NOT_COPIED),
    _cause("zero_copy_pays", ", not told"),
    _cause("copied_gains_nothing"),
    _cause("cold_gains_more"),
    _cause("cold_no_faster"),
    _cause("larger_no_slower"),
    _cause("threads_beyond_cpus_gain_nothing"),
    _cause("service_time_rises"),
    _sure_of("observed once", True),
    _sure_of("nothing violated", False),
    _sure_of("one stands", False, 1),
    _sure_of("none stands", False, 0),
]  # fmt: skip
