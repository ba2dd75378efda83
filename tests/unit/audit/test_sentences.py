"""Every sentence of an audit, as golden text: one line per branch of a macro."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest
from analysed import inputs_of
from golden.compare import GOLDEN, golden_text
from synthetic import Run
from unit.audit.made import Model, finding_text, make_table, read_frame, sentences, write_cells
from unit.audit.planted import FAULTS as PLANTED
from unit.audit.planted import planted
from unit.audit.round_trips import round_trips
from unit.audit.suspicious import EIGHT_CPUS, FAULTS, finding_of

from copycost.audit.claims.parse import parse_claim
from copycost.audit.claims.verdicts import judge_claim
from copycost.audit.dataset import Dataset
from copycost.audit.facts import Audit, audit_facts
from copycost.audit.mapping import FileMapping
from copycost.audit.message import Message
from copycost.audit.plausibility import Finding, check_plausibility
from copycost.audit.plausibility.round_trips import check_round_trips
from copycost.audit.reader import read_dataset
from copycost.audit.templates import audit_environment

HEADER = "impl,size,threads,gbps\n"


def as_golden(name: str, lines: Iterable[str]) -> None:
    text = "".join(f"{line}\n" for line in lines).replace("\u00a0", " ")
    assert text == golden_text(GOLDEN / "audit" / f"{name}.md", text)


def macros(name: str) -> set[str]:
    module = audit_environment().get_template(f"_macros/audit_{name}.j2").module
    return {macro for macro in vars(module) if not macro.startswith("_")} - {"name", "left_over"}


BY_A_SCEPTIC = (
    ("messages_disagree", "messages of one thread"),
    ("latency_disagrees", "one row's latency x 2"),
    ("latency_by_a_factor", "latency x 3"),
    ("latency_without_threads", "latency without threads"),
    ("multiple_and_noise", "one implementation x 0.8 with 0.1 % noise"),
    ("multiple_and_noise", "one implementation x 0.8 with 0.1 % noise, once"),
    ("sorted_repetitions", "sorted repetitions"),
    ("sorted_repetitions", "falling repetitions"),
    ("even_repetitions", "one measurement with 0.2 % noise"),
    ("mean_repetitions", "outliers replaced by the mean"),
    ("cumulative", "a counter never set back"),
    ("rows_equal", "a block pasted from the same table"),
    ("rows_alike", "a block pasted, with 0.1 % noise"),
    ("datasets_share_rows", "a block pasted from another dataset"),
    ("unit_jumps", "cycles in thousands in one row"),
    ("implementations_exchanged", "implementations exchanged at a size"),
    ("threads_exchanged", "thread counts exchanged in one implementation"),
    ("smooth", "a model with 0.1 % noise"),
    ("interpolated", "a size drawn between its neighbours"),
    ("some_zeros", "gaps filled with 0"),
    ("values_missing", "empty cells"),
    ("cells_missing", "rows missing"),
    ("repetitions_missing", "repetitions missing"),
    ("fast_stream", "600 Gbit/s on one thread"),
    ("frequent_messages", "a message every 35 ns"),
    ("short_latency", "latency in ms throughout"),
    ("latency_over_duration", "latencies longer than the run"),
    ("cycles_per_thread", "30 GHz of cycles per thread"),
    ("cpus_per_thread", "cpu time in percent"),
    ("clock_rate", "cycles of another time"),
    ("more_llc_than_l1d", "L1 and LLC exchanged"),
    ("few_misses", "1e-7 misses per byte"),
    ("few_switches", "0 to 2 switches with 8 threads"),
    ("times_backwards", "ends before starts"),
    ("times_repeat", "stamps that repeat"),
    ("times_overlap", "runs that overlap"),
)
"""Codes of findings, and the planted fault that shows each."""


@pytest.mark.slow
def test_every_finding_has_its_words(tmp_path: Path) -> None:
    lines, codes = [], set()
    for fault, table in FAULTS.items():
        finding = finding_of(check_plausibility(read_frame(table(), tmp_path)), fault)
        lines.append(f"{fault}: {finding_text(finding)}")
        codes.add(finding.code)
    for fault in ("more_cycles_than_time", "more_cpu_time_than_time"):
        dataset = read_frame(FAULTS[fault](), tmp_path, EIGHT_CPUS)
        finding = finding_of(check_plausibility(dataset), fault)
        lines.append(f"{fault}, on a known host: {finding_text(finding)}")
    for code, fault in BY_A_SCEPTIC:
        found = check_plausibility(read_frame(planted(PLANTED[fault]), tmp_path))
        finding = next(one for one in found if one.code == code)
        lines.append(f"{code}, {fault}: {finding_text(finding)}")
        codes.add(finding.code)
    for finding in check_round_trips(round_trips(p50_ns=30.0, mean_ns=93_000.0), "lab"):
        lines.append(f"{finding.code}: {finding_text(finding)}")
        codes.add(finding.code)
    assert codes == macros("findings") == macros("reasons")
    as_golden("findings", lines)


NOTES: Mapping[str, tuple[str, FileMapping]] = {
    "other_delimiter": (f"{HEADER}A1,4096,1,10.5\nA2;4096;1;9.5\n", FileMapping()),
    "one_thread_assumed": ("impl,size,gbps\nA1,4096,10.5\n", FileMapping()),
    "decimal_commas": ("impl;size;threads;gbps\nA1;4096;1;10,25\n", FileMapping()),
    "power_of_two": ("impl,size [KB],threads,gbps\nA1,4,1,10.5\n", FileMapping()),
    "unit_assumed": ("impl,size,threads,latency\nA1,4096,1,10.5\n", FileMapping()),
    "several_datasets": ("host,impl,size,gbps\nx,A1,64,1\ny,A1,64,2\n", FileMapping()),
    "rows_repeated": (f"{HEADER}A1,4096,1,10.5\nA1,4096,1,10.5\n", FileMapping()),
    "repetitions_renumbered": (
        "impl,size,rep,gbps\nA1,64,1,1\nA1,64,1,2\n", FileMapping(),
    ),
    "repetitions_by_order": (f"{HEADER}A1,64,1,1\nA1,64,1,2\n", FileMapping()),
    "times_unread": (
        "impl,size,gbps,timestamp\nA1,64,1,noon\nA2,64,2,2026-01-02T03:04:05\n",
        FileMapping(),
    ),
    "column_empty": ("impl,size,gbps,LLC\nA1,64,1,\n", FileMapping()),
    "implementations_renamed": (f"{HEADER}A1,64,1,1\n", FileMapping()),
    "totals_unused": ("impl,size,L1,cycles\nA1,64,2000,100\n", FileMapping()),
}  # fmt: skip


def notes_of(dataset: Dataset) -> list[Message]:
    notes = audit_facts(Audit(dataset, [], [], []))["notes"]
    return [Message(note["code"], note["numbers"]) for note in notes]


def test_every_note_has_its_words(tmp_path: Path) -> None:
    cells = write_cells(inputs_of(Run(counters=False)).cells, tmp_path)
    read = {"copycost_table": read_dataset(cells, FileMapping())}
    for code, (text, mapping) in NOTES.items():
        (tmp_path / "table.csv").write_text(text, encoding="utf-8")
        read[code] = read_dataset(tmp_path / "table.csv", mapping)
    lines = []
    for code, dataset in read.items():
        note = next(note for note in notes_of(dataset) if note.code == code)
        lines.append(f"{code}: {sentences('notes', code, note.numbers)}")
    assert set(read) == macros("notes")
    as_golden("notes", lines)


def compare(is_: str, first: str = "one_copy", second: str = "two_copy") -> dict[str, object]:
    part = {"metric": "throughput", "implementation": first, "with": second, "is": is_}
    return {"compare": part}


AT_ONE_CELL = {"sizes": 4096, "threads": 1}
CROSSOVER = {"metric": "throughput", "implementation": "one_copy", "with": "two_copy"}
TOTALS = {"metric": "l1d_misses", "implementation": "one_copy", "with": "two_copy"}
CLAIMS: Mapping[str, dict[str, object]] = {
    "only_words": {"claim": "zero-copy is the future"},
    "supported_all": compare("more"),
    "supported_all, one cell": compare("more") | AT_ONE_CELL,
    "supported_most": compare("more") | {"in": "most"},
    "supported_most, one cell": compare("more") | AT_ONE_CELL | {"in": "most"},
    "supported_some": compare("more") | {"in": "some"},
    "supported_some, one cell": compare("more") | AT_ONE_CELL | {"in": "some"},
    "contradicted_all": compare("less"),
    "contradicted_all, one cell": compare("less") | AT_ONE_CELL,
    "contradicted_most": compare("less") | {"in": "most"},
    "contradicted_most, one cell": compare("less") | AT_ONE_CELL | {"in": "most"},
    "contradicted_some": compare("less") | {"in": "some"},
    "contradicted_some, one cell": compare("less") | AT_ONE_CELL | {"in": "some"},
    "left_open_all": compare("more", "zero_copy"),
    "left_open_all, one cell": compare("more", "zero_copy") | AT_ONE_CELL,
    "left_open_all, one missing": compare("more", "zero_copy") | {"sizes": [4096, 65536],
                                                                  "threads": 1},
    "left_open_most": compare("more", "zero_copy") | {"in": "most"},
    "left_open_most, one cell": compare("more", "zero_copy") | AT_ONE_CELL | {"in": "most"},
    "left_open_most, one missing": compare("more", "zero_copy")
    | {"sizes": [4096, 65536], "threads": 1, "in": "most"},
    "left_open_some": compare("more", "zero_copy") | {"in": "some"},
    "left_open_some, one cell": compare("more", "zero_copy") | AT_ONE_CELL | {"in": "some"},
    "left_open_some, one missing": compare("more", "zero_copy")
    | {"sizes": [4096, 16384, 262144, 65536], "threads": 1, "in": "some"},
    "cells_missing": compare("more") | {"sizes": [4096, 65536], "threads": [1]},
    "cells_missing, none supports": compare("less")
    | {"sizes": [4096, 65536], "threads": 1, "in": "some"},
    "cells_missing, one cell": {
        "rank": {"metric": "latency_p99", "implementation": "one_copy", "is": "worst"},
    } | AT_ONE_CELL,
    "no_cells": compare("more") | {"sizes": 65536, "threads": 1},
    "no_column": {"value": {"metric": "cache_misses", "is": "zero"}},
    "does_not_follow": {"value": {"metric": "cache_misses_per_byte", "is": "zero"}},
    "not_counting": {"value": {"metric": "llc_misses", "is": "zero"}},
    "no_pairs": compare("more", "sendfile"),
    "no_rivals": {"rank": {"metric": "throughput", "implementation": "splice", "is": "best"}},
    "refuted": {"measurements": {"metrics": ["cycles"]}},
    "not_refuted": {"measurements": {"metrics": ["latency"]}},
}  # fmt: skip
TOTALS_SAID: Mapping[str, tuple[list[str], dict[str, object]]] = {
    "totals_of_unequal, supported": ([], {"compare": TOTALS | {"is": "more"}}),
    "totals_of_unequal, contradicted": ([], {"compare": TOTALS | {"is": "more", "at_least": 9}}),
    "totals_of_unequal, undecided": (
        [], {"compare": TOTALS | {"metric": "cycles", "is": "less", "at_least": 1.3}},
    ),
    "totals_alone": (["duration_s"], {"compare": TOTALS | {"is": "more"}}),
}  # fmt: skip
SHORTER = {("interval_at", "one round")}
"""What one round shows of a cell is its value alone."""
EVIDENCE: Mapping[str, dict[str, object]] = {
    "values_of": {
        "change": {"metric": "throughput", "from": {"threads": 1}, "to": {"threads": 64},
                   "is": "grows", "implementations": "one_copy"}, "sizes": 4096,
    },
    "values_at": {"value": {"metric": "context_switches", "is": "zero"}} | AT_ONE_CELL,
    "interval_at": {"value": {"metric": "throughput", "is": "above", "than": 1}} | AT_ONE_CELL,
    "ratio_at": compare("more") | AT_ONE_CELL,
    "ratio_of": {
        "change": {"metric": "throughput", "from": {"threads": 1}, "to": {"threads": 2},
                   "is": "grows", "implementations": "one_copy"}, "sizes": 4096,
    },
    "column_missing": {"measurements": {"metrics": ["llc_misses"]}},
    "column": {"measurements": {"metrics": ["latency"]}},
    "no_curve": {"crossover": CROSSOVER | {"from": 4096}, "threads": 64},
}  # fmt: skip
COMPATIBLE = {"crossover": CROSSOVER | {"from": 10240}}
CURVES = {
    "curve_from": (-1, -1, 1, 1),
    "curve_up_to": (1, 1, -1, -1),
    "curve_always": (1, 1, 1, 1),
    "curve_never": (-1, -1, -1, -1),
    "curve_mixed": (-1, -1, 1, 1, -1, -1),
    "curve_undecided": (-1, -1, 0, 0),
}


def claimed(repetitions: int) -> pd.DataFrame:
    """Return a table in which one copy is faster for sure, zero copies perhaps."""
    table = make_table(Model(repetitions=repetitions, sizes=(4096, 16384, 262144), threads=(1, 2)))
    cell = table["impl"].map({"two_copy": 10.0, "one_copy": 13.0, "zero_copy": 10.1})
    noise = make_table(Model(repetitions=repetitions, seed=4, noise=0.05))["cycles"]
    wobble = 1 + (noise % 7 - 3) / 100
    table = table.assign(throughput_gbps=(cell * wobble).round(3), LLC=0, p99=table["latency_us"])
    table["cycles"] = 7 * table["size"] + 900 * table["threads"] + 13
    table["L1"] = (2e9 * wobble * (1 + 3 * (table["impl"] == "one_copy"))).round()
    gap = (table["impl"] == "zero_copy") & (table["size"] == 4096) & (table["threads"] == 1)
    table["p99"] = (3 * table["p99"]).where(~gap)
    return table


def curve(signs: Sequence[int]) -> pd.DataFrame:
    """Return a table in which one copy is better, worse or neither, along the sizes."""
    sizes = tuple(1024 * 4**i for i in range(len(signs)))
    table = make_table(Model(sizes=sizes, threads=(1,), noise=0.01))
    effect = table["size"].map(dict(zip(sizes, signs, strict=True)))
    effect = 1 + 0.2 * effect * (table["impl"] == "one_copy")
    wobble = 1 + (table["cycles"] % 7 - 3) / 300
    return table.assign(throughput_gbps=(10 * effect * wobble).round(3))


def test_every_verdict_has_its_words(tmp_path: Path) -> None:
    several, once = (read_frame(claimed(n), tmp_path) for n in (3, 1))
    findings = check_plausibility(several)
    lines = []
    for case, said in CLAIMS.items():
        because = judge_claim(parse_claim(said), several, findings).because
        assert because.code == case.partition(",")[0], case
        lines.append(f"{case}: {sentences('claims', because.code, because.numbers)}")
    for code, said in EVIDENCE.items():
        for dataset, rounds in ((several, "three rounds"), (once, "one round")):
            evidence = judge_claim(parse_claim(said), dataset, findings).evidence[0]
            assert not isinstance(evidence, Finding)
            assert evidence.code == ("values_at" if (code, rounds) in SHORTER else code)
            branch = f"{code}, {rounds}" if code.startswith("ratio") else code
            if rounds == "three rounds" or code.startswith("ratio"):
                lines.append(f"{branch}: {sentences('claims', code, evidence.numbers)}")
    between = judge_claim(
        parse_claim(COMPATIBLE), read_frame(curve(CURVES["curve_from"]), tmp_path), []
    )
    because = between.because
    lines.append(f"{between.verdict}: {sentences('claims', because.code, because.numbers)}")
    for code, signs in CURVES.items():
        said = {"crossover": CROSSOVER | {"from": 4096}}
        (evidence,) = judge_claim(
            parse_claim(said), read_frame(curve(signs), tmp_path), []
        ).evidence
        assert isinstance(evidence, Message)
        assert evidence.code == code
        lines.append(f"{code}: {sentences('claims', code, evidence.numbers)}")
    table = claimed(3)
    for case, (columns, said) in TOTALS_SAID.items():
        dataset = read_frame(table.drop(columns=columns), tmp_path)
        totals = judge_claim(parse_claim(said), dataset, []).totals
        assert totals is not None, case
        assert totals.code == case.partition(",")[0]
        lines.append(f"{case}: {sentences('claims', totals.code, totals.numbers)}")
    codes = {case.partition(",")[0] for case in (*CLAIMS, *TOTALS_SAID)}
    assert {*codes, *EVIDENCE, *CURVES, because.code} == macros("claims")
    as_golden("claims", lines)
