"""Every branch of the analysis' macros, each with as few facts as it takes.

By template: the macro, the branch, and what the macro gets.
"""

from collections.abc import Sequence

from golden.analysis_facts import (
    AGAINST,
    CONFIDENCE,
    COPIED,
    DOWN,
    EVEN,
    FIGURES,
    HARDLY,
    NOT_COPIED,
    NOT_TOLD,
    ONCE,
    OPEN,
    PARTLY,
    SHOWN,
    UNKNOWN,
    UP,
    Facts,
    crossing,
    grid,
    group,
    pair,
    ratio,
    weighed,
)

Case = tuple[str, str, tuple[object, ...]]

LABEL = "CPU time"
LOSS = {"slug": "sink", "implementation": "uring_send", "reason": "nftables is not there"}
HELP = LOSS | {"remedy": "run as root"}
NO_HELP = LOSS | {"remedy": None}


# --- along the sizes ---------------------------------------------------------------------------

GRID, ONE_SIZE = grid(), grid(65536, threads=(1,))
_CHANGES = {"change": None, "point_low_bytes": 5325, "point_high_bytes": 9318}
_ONE_POINT = _CHANGES | {"point_high_bytes": 5325}
_NO_END = {"change": crossing(9318)}


def _verdict(branch: str, found: Facts, where: Facts = GRID) -> Case:
    return "verdict", branch, (found, where)


def _sizes(branch: str, found: Facts) -> Case:
    return "along_sizes", branch, (found, pair(), GRID, CONFIDENCE)


def _costs(branch: str, found: Facts, alike: bool = False) -> Case:
    return "cost_along_sizes", branch, (found, alike, LABEL, GRID, CONFIDENCE)


ALONG_SIZES: list[Case] = [
    _verdict("not measured", pair("not_measured")),
    _verdict("always", pair("always", 6)),
    _verdict("always, one size", pair("always", 1), ONE_SIZE),
    _verdict("never", pair("never", 0, 6)),
    _verdict("from one size", pair("from", 4, 2)),
    _verdict("from one size with a gap", pair("from", 3, 2, 1, gaps=[65536])),
    _verdict("from two sizes", pair("from", 3, 3, same_size=False, sizes=[4096, 65536])),
    _verdict("up to one size", pair("up_to", 4, 2)),
    _verdict("up to two sizes", pair("up_to", 3, 3, same_size=False, sizes=[1024, 4096])),
    _verdict("mixed", pair("mixed", 3, 3)),
    _verdict("one cell without a difference", pair("undecided", 0, 0, 1), ONE_SIZE),
    _verdict("no difference", pair("undecided", 0, 0, 6)),
    _verdict("never faster", pair("undecided", 0, 2, 4)),
    _verdict("never slower", pair("undecided", 2, 0, 4)),
    _verdict("both", pair("undecided", 2, 3, 1)),
    _verdict("depends on the threads", pair("depends", 3, 3)),
    _sizes("not measured", group("not_measured")),
    _sizes("always", group("always", (1024, 4096, 65536))),
    _sizes("never", group("never", (), (1024,))),
    _sizes("from", group("from", (65536,), (1024, 4096))),
    _sizes("from, with a gap and a size missing", group(
        "from", (4096, 1048576), (1024,), (65536,), gaps=[65536], missing=[256], **_NO_END
    )),
    _sizes("from, several thread counts", group(
        "from", (65536,), (1024, 4096), n_threads=[1, 2], **_CHANGES
    )),
    _sizes("from, observed once", group(
        "from", (65536,), (1024,), observed_once=True, **_NO_END
    )),
    _sizes("up to", group("up_to", (1024, 4096), (65536,), **_ONE_POINT)),
    _sizes("mixed", group("mixed", (4096,), (1024, 65536))),
    _sizes("both, one size alone", group("undecided", (4096,), (1024, 65536), lone=[4096])),
    _sizes("faster at some", group("undecided", (4096,), (), (1024, 65536))),
    _sizes("slower at some", group("undecided", (), (4096,), (1024, 65536))),
    _sizes("no difference", group("undecided", (), (), (1024, 4096))),
    _sizes("no difference at one size", group("undecided", (), (), (1024,))),
    _costs("always", group("always", (1024, 4096, 65536))),
    _costs("never", group("never", (), (1024, 4096, 65536))),
    _costs("as by throughput", group("from", (65536,), (1024,)), alike=True),
    _costs("from", group("from", (65536,), (1024,), (4096,))),
    _costs("cheaper at some", group("undecided", (65536,), (), (4096,))),
    _costs("more expensive at some", group("undecided", (), (65536,), (4096,))),
    _costs("no difference", group("undecided", (), (), (1024, 4096))),
]  # fmt: skip


# --- words -------------------------------------------------------------------------------------

_ONE_ROUND = {"observed_once": True, "n_rounds": 1, "n_rounds_max": 1}
_NOTHING: Facts = {"ring_bytes": None, "ring_per_llc": None, "mapped_share": None}


def _sure(branch: str, found: Facts) -> Case:
    return "how_sure", branch, (found, CONFIDENCE)


def _path(
    branch: str,
    testbed: str = "veth",
    fresh: bool = False,
    mapped: float | None = None,
    **more: object,
) -> Case:
    quantities = _NOTHING | {"mapped_share": mapped}
    facts = {"slug": testbed, "testbed": testbed, "sender_only": testbed == "sink"}
    facts |= {"receiver": "recv", "working_set": "hot", "quantities": quantities}
    return "path_of", branch, (facts | more, {"method": {"fresh": fresh}})


def _ring(branch: str, ring_bytes: int | None, per_llc: float | None, where: str = "cold") -> Case:
    quantities = {"ring_bytes": ring_bytes, "ring_per_llc": per_llc}
    return "ring", branch, ({"working_set": where, "quantities": quantities},)


_LOST = {"n": 12, "reason": "no right to make network namespaces", "remedy": "run as root"}
_FAILED = {"n": 1, "reason": "the receiver ended early", "remedy": None}


def _missing(branch: str, failed: int, skipped: int) -> Case:
    facts = {"n_repetitions": 36, "n_failed": failed, "n_skipped": skipped}
    return "missing", branch, (facts,)


WORDS: list[Case] = [
    ("observed_once", "yes", (True,)),
    *(
        (
            "in_what",
            reason,
            ({"measured_conditions": names, "cost": {"reason": reason, "label": LABEL}},),
        )
        for reason, names in (
            ("nothing", []),
            ("cycles_counted", ["veth"]),
            ("not_counted", ["veth"]),
            ("cycles_user_mode_only", ["veth"]),
            ("no_cycles", ["veth"]),
        )
    ),
    (
        "not_measured",
        "skipped and failed",
        ({"slug": "veth", "skipped": [_LOST], "failed": [_FAILED]},),
    ),
    _missing("failed", 2, 0),
    _missing("skipped", 0, 1),
    _missing("both", 2, 1),
    _sure("nothing compared", pair()),
    _sure("one round", pair("undecided", 2, **_ONE_ROUND)),
    _sure("one round in some cells", pair("undecided", 2, **_ONE_ROUND | {"n_rounds_max": 3})),
    _sure("one comparison", pair("undecided", 1)),
    _sure("few comparisons", pair("undecided", 2, 1, 1)),
    _sure("many comparisons, rounds missing", pair("undecided", 1, 0, 27, n_rounds_max=5)),
    _sure("none stands", pair("undecided", 2, 1, n_sure=0)),
    _path("loopback", "loopback"),
    _path("veth"),
    _path("veth without offloads", "veth_no_offload"),
    _path("UDP", "veth_udp"),
    _path("sink", "sink"),
    _path("a foreign testbed, written anew", "their_lab", fresh=True),
    _path("receiver that discards", receiver="trunc"),
    _path("receiver that maps", receiver="mmap", mapped=0.98),
    _path("receiver by io_uring", receiver="uring"),
    _path("cold", working_set="cold"),
    _ring("of unknown size", None, None),
    _ring("of unknown caches", 1 << 30, None),
    _ring("beyond the caches", 1 << 30, 4.0),
    _ring("within the caches", 1 << 24, 0.52, "16777216"),
]


# --- question 1 --------------------------------------------------------------------------------

BOTH = ["two_copy", "one_copy"]


def _won(
    branch: str, verdict: str, won: int = 0, lost: int = 0, left: int = 0, **more: object
) -> Case:
    n = won + lost + left
    facts: Facts = {
        "verdict": verdict,
        "rivals": BOTH,
        "observed_once": False,
        "won_is_block": False,
    }
    facts |= {"n_cells": n, "n_compared": n, "n_won": won, "n_lost": lost, "n_open": left}
    return "verdict", branch, (facts | more,)


def _told(branch: str, evidence: Facts, won: bool = False) -> Case:
    return "copied", branch, ({"name": "veth", "evidence": evidence}, FIGURES, won)


def _one_by_one(dearer: int, cheaper: int) -> Facts:
    return {"n_compared": 6, "n_dearer": dearer, "n_cheaper": cheaper}


def _cost(branch: str, found: Facts, won: bool = False, dearer: int = 0, cheaper: int = 0) -> Case:
    facts = {
        "cost_label": LABEL,
        "evidence": {"zero_copy_dearer": found},
        "questions": {"q1": {"cost": _one_by_one(dearer, cheaper)}},
    }
    return "costs", branch, (facts, "two_copy", won, CONFIDENCE)


def _calls(branch: str, found: Facts, reads: float | None = None) -> Case:
    facts = {"evidence": {"more_system_calls": found}}
    return (
        "calls",
        branch,
        (facts | {"quantities": {"errqueue_reads_per_message": reads}}, "two_copy"),
    )


def _switches(branch: str, found: Facts, refused: Facts = UNKNOWN) -> Case:
    evidence = {"more_context_switches": found, "memory_limit_met": refused}
    return "switches", branch, ({"evidence": evidence}, "two_copy")


_BLOCK = {"won_is_block": True, "won_sizes": [32768, 65536], "won_threads": [1]}

FASTEST: list[Case] = [
    _won("not measured", "not_measured", rivals=[]),
    _won("everywhere", "everywhere", 6),
    _won("everywhere, one cell", "everywhere", 1, rivals=["two_copy"]),
    _won("somewhere", "somewhere", 2, 3, 1),
    _won("somewhere, a block", "somewhere", 2, 0, 3, **_BLOCK),
    _won("nowhere", "nowhere", 0, 6),
    _won("nowhere, one cell", "nowhere", 0, 1),
    _won("not shown, lost some", "not_shown", 0, 2, 4),
    _won("not shown, lost none", "not_shown", 0, 0, 6),
    _told("all", COPIED),
    _told("a part", PARTLY),
    _told("none, and ahead", NOT_COPIED, won=True),
    _told("none, and behind", NOT_COPIED),
    _told("not told", NOT_TOLD),
    _cost("more, though ahead", SHOWN, won=True),
    _cost("more", SHOWN),
    _cost("less, though behind", AGAINST, dearer=2, cheaper=4),
    _cost("no difference, some more", OPEN, dearer=2),
    _cost("no difference, some less", OPEN, cheaper=2),
    _cost("not measured", UNKNOWN),
    _calls("more", SHOWN, 0.12),
    _calls("not more", AGAINST),
    _calls("no difference", OPEN),
    _calls("not measured", UNKNOWN),
    _switches("more", SHOWN, weighed("shown", 0.021)),
    _switches("not more", AGAINST),
    _switches("no difference", OPEN),
    _switches("not measured", UNKNOWN),
    ("sampled", "one cell", ({"msg_bytes": 65536, "n_threads": 1},)),
    ("untold", "without a profile", (False, False)),
    ("untold", "without a profile and a card", (False, True)),
    ("untold", "without a card", (True, True)),
    ("numbers", "one cell", (pair("always", 1), " (@fig-veth-throughput)", CONFIDENCE)),
    ("numbers", "several cells", (pair("always", 6), " (@fig-veth-throughput)", CONFIDENCE)),
]


# --- question 2 --------------------------------------------------------------------------------

CACHES = {"l1d": 49152, "l2": 2097152, "llc": None}


def _fall(found: Facts, level: str = "l1d_load_misses") -> Facts:
    lowest = {"ratio": 0.52, "msg_bytes": 65536, "n_threads": 2}
    return found | {"implementation": "one_copy", "level": level, "n_cells": 6, "lowest": lowest}


def _misses(branch: str, verdict: str, **more: object) -> Case:
    return "verdict", branch, ({"verdict": verdict, "only_level": False, "deepest": None} | more,)


def _gaps(branch: str, status: str, reason: str | None = None) -> Case:
    return (
        "gaps",
        branch,
        ({"levels": {"llc_load_misses": status}}, {"llc_load_misses": {"reason": reason}}),
    )


def _uncounted(branch: str, *costs: Facts) -> Case:
    rows = [cost | {"implementation": "one_copy"} for cost in costs]
    t = {"name": "veth", "cost_label": LABEL}
    return "without_counters", branch, (t, {"costs": rows}, FIGURES, CONFIDENCE)


MISSES: list[Case] = [
    _misses("not measured", "not_measured"),
    _misses("not counted", "not_counted"),
    _misses("not compared", "not_compared"),
    _misses("no fall", "no_fall"),
    _misses("fall of the only level", "fall", only_level=True, deepest=_fall(DOWN)),
    _misses("fall", "fall", deepest=_fall(DOWN)),
    ("fall", "fewer", (_fall(DOWN), CONFIDENCE)),
    ("fall", "no difference", (_fall(EVEN, "llc_load_misses"), CONFIDENCE)),
    _gaps("zero", "zero"),
    _gaps("not counted", "not_counted"),
    _gaps("not counted, with a reason", "not_counted", "no such counter"),
    _uncounted("costs", DOWN, EVEN),
    _uncounted("no costs"),
    ("caches_here", "two known", (CACHES,)),
    ("follows_cache_size", "left open", (OPEN, CONFIDENCE)),
    ("follows_cache_size", "shown", (weighed("shown", DOWN), CONFIDENCE)),
    ("follows_cache_size", "contradicted", (weighed("contradicted", UP), CONFIDENCE)),
    ("follows_cache_size", "not measured", (UNKNOWN, CONFIDENCE)),
    ("untold", "one level", (True,)),
    ("how_sure", "observed once", ([ONCE], CONFIDENCE)),
    ("how_sure", "several rounds", ([DOWN, EVEN], CONFIDENCE)),
]


# --- question 3 --------------------------------------------------------------------------------


def _shape(branch: str, shape: str, n_steps: int = 3, gains_up_to: int | None = None) -> Case:
    facts = {"shape": shape, "implementations": BOTH, "n_steps": n_steps, "fewest": 1, "most": 8}
    return "shape", branch, (facts | {"gains_up_to": gains_up_to},)


def _of(found: Facts, name: str = "two_copy") -> Facts:
    return found | {"implementation": name}


def _scaling(branch: str, wholes: list[Facts], service: list[Facts]) -> Case:
    facts = {"fewest": 1, "most": 8, "wholes": wholes, "service": service}
    facts |= {"lowest": _of(DOWN), "highest": _of(UP), "shortest": _of(DOWN), "longest": _of(UP)}
    return "numbers", branch, (facts, " (@fig-throughput)", " (@fig-service-time)", CONFIDENCE)


def _turns(branch: str, found: Facts, sender_only: bool = False, n_cpus: int | None = 2) -> Case:
    return "turns", branch, (found, {"n_cpus": n_cpus, "most": 4}, sender_only)


def _growth(branch: str, found: Facts, *apart: Facts) -> Case:
    return "growth", branch, (found, "CPU time per byte", list(apart), CONFIDENCE)


_FLAT = {"shape": "flat", "implementations": BOTH, "n_steps": 1, "fewest": 1, "most": 2}

THREADS: list[Case] = [
    ("verdict", "not measured", ({"verdict": "not_measured"},)),
    ("verdict", "one thread count", ({"verdict": "one_thread_count"},)),
    ("verdict", "observed once", ({"verdict": "flat", "shapes": [_FLAT], "observed_once": True},)),
    _shape("one step up", "gains", 1),
    _shape("one step down", "falls", 1),
    _shape("gains", "gains"),
    _shape("gains, then flat", "gains_then_flat", gains_up_to=4),
    _shape("gains, then flat, from different counts", "gains_then_flat"),
    _shape("gains, then falls", "gains_then_falls", gains_up_to=4),
    _shape("gains, then falls, from different counts", "gains_then_falls"),
    _shape("falls", "falls"),
    _shape("gains somewhere", "gains_somewhere"),
    _shape("flat", "flat"),
    _shape("mixed", "mixed"),
    _scaling("no whole way", [], []),
    _scaling("few implementations", [_of(UP), _of(DOWN, "one_copy")], [_of(UP)]),
    _scaling("many implementations", [_of(UP)] * 5, [_of(UP)] * 5),
    _turns("sending threads in turns", weighed("shown", 2.0), sender_only=True),
    _turns("all threads in turns", weighed("shown", 4.0)),
    _turns("each sender its own", weighed("contradicted", 1.0), sender_only=True, n_cpus=8),
    _turns("each its own", weighed("contradicted", 1.0), n_cpus=8),
    _turns("not pinned", UNKNOWN, n_cpus=None),
    _growth("grew", SHOWN, _of(DOWN, "one_copy")),
    _growth("grew a trifle", weighed("contradicted", ratio(1.01, 1.005, 1.015))),
    _growth("fell", AGAINST),
    _growth("no difference", OPEN),
    *(
        ("contention", found.replace("_", " "), (found,))
        for found in (
            "not_measured", "shown", "contradicted", "contradicted_in_l1d", "contradicted_in_llc",
        )
    ),
    ("untold", "sender only", (True,)),
    ("untold", "both sides", (False,)),
    ("how_sure", "observed once", ({"observed_once": True}, CONFIDENCE)),
    ("how_sure", "several rounds", ({"observed_once": False, "n_rounds": 3}, CONFIDENCE)),
]  # fmt: skip


# --- questions 4 and 5 -------------------------------------------------------------------------


def _cheaper(branch: str, found: Facts) -> Case:
    return "cheaper", branch, (found, pair("always", 6), LABEL, CONFIDENCE)


def _per_message(branch: str, found: Facts) -> Case:
    facts = {"grid": GRID, "cost_label": LABEL}
    return "per_message", branch, (found, facts, " (@fig-veth-cost-per-byte)", CONFIDENCE)


def _pooled(branch: str, found: Facts, n_cells: int = 6) -> Case:
    return (
        "numbers",
        branch,
        (pair("undecided", 2, 0, 4, pooled=found, n_cells=n_cells), "", CONFIDENCE),
    )


PAIR: list[Case] = [
    _pooled("no difference over all", EVEN),
    _pooled("a difference over all, cells missing", UP, 8),
    _cheaper("cheaper", weighed("shown", DOWN)),
    _cheaper("more expensive", weighed("contradicted", UP)),
    _cheaper("no difference", OPEN),
    _cheaper("not measured", UNKNOWN),
    _per_message("shown", SHOWN),
    _per_message("contradicted", AGAINST),
    _per_message("no difference", OPEN),
    _per_message("not measured", UNKNOWN),
    ("residency", "hot", ({"working_set": "hot"}, False)),
    ("residency", "cold, and hot was measured", ({"working_set": "cold"}, True)),
    ("residency", "cold alone", ({"working_set": "cold"}, False)),
    ("on_a_card", "copied", (COPIED,)),
    ("on_a_card", "not copied", (NOT_COPIED,)),
    ("on_a_card", "not told", (NOT_TOLD,)),
]


def _level(level: str, share: float | None, n_threads: int | None = None) -> Facts:
    size = {"l1d": 49152, "l2": 2097152, "llc": 33554432}[level]
    return {"level": level, "share": share, "size_bytes": size, "n_threads": n_threads}


def _fit(
    branch: str,
    over: Sequence[Facts] = (),
    within: Sequence[Facts] = (),
    unknown: Sequence[Facts] = (),
) -> Case:
    fit = {"over": list(over), "within": list(within), "unknown": list(unknown)}
    return "message_and_caches", branch, (fit, 131072)


def _lost(
    branch: str, found: Facts, sender_only: bool = False, transport: str = "datagram"
) -> Case:
    facts = {"transport": transport, "sender_only": sender_only}
    return "losses", branch, (facts | {"evidence": {"datagrams_lost": found}},)


_L1D, _L2 = _level("l1d", 2.67), _level("l2", 0.0625)
_LLC = _level("llc", 0.016, 4)

PATH: list[Case] = [
    ("ring_and_caches", "unknown caches", (None, "cold")),
    ("ring_and_caches", "within", (0.52, "16777216")),
    ("ring_and_caches", "cold", (4.0, "cold")),
    ("ring_and_caches", "of another size", (1.0, "67108864")),
    _fit("over and within", [_L1D], [_L2, _LLC]),
    _fit("within", (), [_L1D | {"share": 0.5}]),
    _fit("over, the rest unknown", [_L1D], (), [_L2, _LLC]),
    _fit("unknown", (), (), [_L1D]),
    _lost("not measured", UNKNOWN),
    _lost("lost before the hook", weighed("shown", 0.02), sender_only=True),
    _lost("hardly any lost before the hook", weighed("contradicted", 0.0004), sender_only=True),
    _lost("none lost before the hook", weighed("contradicted", 0.0), sender_only=True),
    _lost("lost", weighed("shown", 0.1)),
    _lost("hardly any lost", weighed("contradicted", 0.0004)),
    _lost("none lost", weighed("contradicted", 0.0)),
    ("slots", "waited", (weighed("shown", 0.3),)),
    ("segments", "datagrams", ({"transport": "datagram", "mtu_bytes": 65535.0},)),
    ("segments", "datagrams, unknown path", ({"transport": "datagram", "mtu_bytes": None},)),
    ("cut_segments", "by the CPU in part", (weighed("shown", 0.4),)),
    ("cut_segments", "by the CPU", (weighed("shown", 0.0),)),
    ("cut_segments", "not by the CPU", (weighed("contradicted", 1.0),)),
    ("cut_segments", "not measured", (UNKNOWN,)),
    ("segments_sent_again", "many", (weighed("shown", 3.1),)),
    ("segments_sent_again", "few", (weighed("contradicted", 0.3),)),
    ("segments_sent_again", "none", (weighed("contradicted", 0.0),)),
    ("segments_sent_again", "not measured", (UNKNOWN,)),
    ("page_faults", "many", (weighed("shown", 0.5),)),
    ("page_faults", "few", (weighed("contradicted", 0.0004),)),
    ("page_faults", "none", (weighed("contradicted", 0.0),)),
    ("page_faults", "not measured", (UNKNOWN,)),
]


# --- the other ways, and where zero-copy is real -----------------------------------------------


def _together(
    branch: str, throughput: Facts | None, calls: Facts | None, cost: Facts | None
) -> Case:
    facts = {"implementation": "sendmmsg_x16", "beside": "sendmmsg", "throughput": throughput}
    return (
        "together", branch,
        (facts | {"system_calls": calls, "cost": cost}, {"cost_label": LABEL}, CONFIDENCE),
    )  # fmt: skip


def _uring(found: Facts) -> Facts:
    at = found | {"msg_bytes": 4096, "n_threads": 1}
    return {"implementation": "uring_zero_copy", "beside": "zero_copy", "at": at}


def _copies(copies: str, uring: float | None, other: float) -> Case:
    shares = {"uring": uring, "msg_zerocopy": other}
    return "copies", copies, ({"copies": copies, "copied_share": shares},)


def _answer() -> Case:
    both = {"throughput": UP, "system_calls": DOWN, "cost": DOWN}
    uring = (
        _uring(UP) | both | {"copies": "alike", "copied_share": {"uring": 1.0, "msg_zerocopy": 1.0}}
    )
    uring["notifications_per_send"] = {"uring": 1.0, "msg_zerocopy": 1.0}
    batch = {"batch": 16, "implementation": "sendmmsg_x16", "beside": "sendmmsg"} | both
    found = {"ways": [], "lost": [], "uring": uring, "batches": [batch]}
    t = {"others": found, "name": "veth", "cost_label": LABEL}
    return (
        "answer",
        "io_uring and batches",
        (t, [], {"method": {"statistics": {"confidence": CONFIDENCE}}}),
    )


_WAY = pair("undecided", 2, 0, 4, implementation="sendfile")

OTHERS: list[Case] = [
    ("way", "a difference over all", (_WAY, DOWN, {"grid": GRID, "cost_label": LABEL}, CONFIDENCE)),
    _together("nothing in common", None, None, None),
    _together("differences", UP, DOWN, DOWN),
    _together("no differences", EVEN, EVEN, EVEN),
    _together("throughput alone", UP, None, None),
    ("at_one_size", "a difference", (_uring(UP), CONFIDENCE)),
    ("at_one_size", "no difference", (_uring(EVEN), CONFIDENCE)),
    ("notified", "both", ({"uring": 1.0, "msg_zerocopy": 0.12},)),
    ("notified", "not both", ({"uring": 1.0, "msg_zerocopy": None},)),
    _copies("alike", 1.0, 1.0),
    _copies("differ", 0.0, 1.0),
    _copies("unknown", None, 1.0),
    ("by_chance", "none", (0, "")),
    ("by_chance", "one", (1, " (@fig-veth-throughput)")),
    ("by_chance", "several", (9, " (@fig-veth-throughput)")),
    _answer(),
    ("not_measured", "with a remedy", (HELP,)),
    ("not_measured", "without", (NO_HELP,)),
]

_REAL: Facts = {"lost": [], "copied": [], "asked_for": True}
_SHARES = [{"copied_share": 0.97}, {"copied_share": 1.0}]


def _no_second(branch: str, status: str, **more: object) -> Case:
    return "no_second_answer", branch, (_REAL | {"status": status} | more,)


def _there(working_set: str, sender_only: bool = True, per_llc: float | None = None) -> Facts:
    facts = {"slug": "sink_cold", "sender_only": sender_only, "working_set": working_set}
    return facts | {"quantities": {"ring_per_llc": per_llc}}


def _setting(branch: str, *args: object) -> Case:
    return "setting", branch, (_there(*args), " (@sec-sink-cold-q5)")


def _price(branch: str, found: Facts | None) -> Case:
    facts: Facts = {"quantities": {"zero_cost_ratio": found}, "cost_label": f"sender {LABEL}"}
    facts |= {"questions": {"q1": {"rivals": BOTH, "cost": _one_by_one(2, 1)}}}
    return "price", branch, (facts, CONFIDENCE)


def _cold(branch: str, verdict: str, measure: str = "throughput", **more: object) -> Case:
    row: Facts = {"implementation": "zero_copy", "slug": "sink_cold", "hot": "sink", "n_threads": 1}
    row |= {"verdict": verdict, "measure": measure, "as_throughput": False, "settled": "neither"}
    row |= {"outcomes": ["undecided", "from"], "observed_once": False, "ratio": None}
    row |= {"better_here": [], "better_hot": [], "points_bytes": [5427, 20480]}
    return "cold", branch, (row | more, f"sender {LABEL}", CONFIDENCE)


def _again(macro: str, branch: str, slug: str) -> Case:
    real = _REAL | {"status": "not_told", "pairs": [], "told_at": {"q1": "veth", "q5": "veth"}}
    return macro, branch, ({"slug": slug}, {"real_zero_copy": real})


_NO_BASELINE = {"sink": {"grid": {"implementations": ["one_copy", "zero_copy"]}}}

REAL: list[Case] = [
    _again("fastest_again", "here", "veth"),
    _again("fastest_again", "told before", "loopback"),
    _again("zero_copy_again", "here", "veth"),
    _again("zero_copy_again", "told before", "loopback"),
    ("crossovers_there", "no baseline", ({"slug": "sink"}, {"conditions": _NO_BASELINE})),
    _no_second("skipped", "copied", lost=[HELP]),
    _no_second("copied on sink, too", "copied", copied=_SHARES),
    _no_second("sink not asked for", "copied", copied=_SHARES, asked_for=False),
    _no_second("not told", "not_told"),
    _no_second("not measured", "not_measured"),
    _price("not measured", None),
    _price("no difference", EVEN),
    _price("a difference", DOWN),
    ("not_copied", "sender only", ({"copied_share": 0.0}, _there("hot"))),
    ("not_copied", "both sides", ({"copied_share": 0.0}, _there("hot", False))),
    _setting("sender, hot", "hot"),
    _setting("sender, memory", "cold", True, 4.0),
    _setting("sender, ring", "16777216"),
    _setting("hot", "hot", False),
    _setting("memory", "cold", False, 4.0),
    _setting("ring", "cold", False),
    _cold("settled cold", "untested", settled="here", better_here=[16384]),
    _cold("settled hot", "untested", settled="hot", better_hot=[16384], observed_once=True),
    _cold("settled nowhere", "untested"),
    _cold("no more by cost", "untested", "cost", as_throughput=True),
    _cold("no difference", "no_difference", ratio=EVEN),
    _cold("smaller", "smaller", ratio=DOWN),
    _cold("larger", "larger", "cost", ratio=UP),
    _cold("always on both", "same", outcomes=["always", "always"]),
    _cold("never on either", "same", outcomes=["never", "never"]),
    _cold("always on one", "smaller", outcomes=["always", "from"]),
    _cold("never on one", "larger", outcomes=["never", "from"]),
]


# --- question 6, and the quality ---------------------------------------------------------------

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

UNEXPECTED: list[Case] = [
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
    _finding("crossover", "cold_crosses_earlier", "crossover", where=_COLD),
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


def _without(
    branch: str, compared: int, changed: int = 0, reversed_: int = 0, once: int = 0
) -> Case:
    facts = {"n_compared": compared, "n_changed": changed, "n_reversed": reversed_}
    return "without", branch, (facts | {"n_left_once": once},)


def _passed(branch: str, cells: int, clean: int, drift: float | None = None) -> Case:
    return "passed", branch, ({"n_cells": cells, "n_clean": clean, "round_drift": drift}, "veth")


_SAME = {"n_compared": 6, "n_changed": 0, "n_reversed": 0, "n_left_once": 0}


def _flags(status: str, n: int, warned: int = 0, warnings: Facts | None = None) -> Facts:
    without = _SAME | {"status": status, "n_repetitions": n}
    facts = {"n_measured": 18, "n_warned": warned, "warnings": warnings or {}}
    return facts | {"without_flagged": without, "without_warned": without}


_STEAL = {"steal": 18, "foreign_load": 2}

QUALITY: list[Case] = [
    _without("nothing left", 0),
    _without("single rounds left", 0, once=4),
    _without("the same", 6, once=2),
    _without("all reversed", 6, 2, 2),
    _without("some reversed", 6, 2, 1),
    _without("none reversed", 6, 2),
    _passed("all", 6, 6, 1.04),
    _passed("one cell", 1, 1),
    _passed("not the one cell", 1, 0),
    _passed("some", 6, 2),
    _passed("none", 6, 0),
    ("disturbed", "no", (_flags("none", 0),)),
    ("disturbed", "throughout", (_flags("all", 18, 18, _STEAL),)),
    ("disturbed", "in part", (_flags("compared", 2, 2, {"throttled": 2}),)),
    ("flagged", "none", (_flags("none", 0),)),
    ("flagged", "all", (_flags("all", 18),)),
    ("flagged", "more than were warned", (_flags("compared", 5, 2, {"throttled": 2}),)),
]

CASES: dict[str, list[Case]] = {
    "along_sizes": ALONG_SIZES,
    "fastest": FASTEST,
    "misses": MISSES,
    "others": OTHERS,
    "pair": PAIR,
    "path": PATH,
    "quality": QUALITY,
    "real": REAL,
    "threads": THREADS,
    "unexpected": UNEXPECTED,
    "words": WORDS,
}
"""By the template's name, ``report/_macros/analysis_NAME.j2``."""
