"""Whatever a table, a mapping or a file of claims holds: a report, or one clear sentence."""

import random
from collections import Counter
from pathlib import Path

import pytest
from unit.audit.mutations import CLAIMS, MAPPING, TABLES, mutated

from copycost.audit import report
from copycost.audit.claims.parse import read_claims
from copycost.audit.claims.verdicts import judge_claim
from copycost.audit.dataset_analysis import analyse_dataset
from copycost.audit.facts import audit_facts
from copycost.audit.mapping import read_mapping
from copycost.audit.plausibility import check_plausibility
from copycost.audit.reader import read_dataset
from copycost.audit.templates import fill
from copycost.errors import ConfigError, DataError

N_SEEDS = 150
ANALYSED_EVERY = 10


def audit(files: dict[str, str], folder: Path, analysed: bool) -> None:
    """Do what the command does, without figures."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    dataset = read_dataset(folder / "table.csv", read_mapping(folder / "mapping.yaml"))
    claims = read_claims(folder / "claims.yaml", dataset)
    findings = check_plausibility(dataset)
    judged = [judge_claim(claim, dataset, findings) for claim in claims]
    facts = audit_facts(dataset, findings, judged, ["table.csv"])
    assert fill("audit.txt.j2", audit=facts).startswith("table.csv: ")
    if analysed:
        analysis = analyse_dataset(dataset)
        report.write_tables(analysis, folder / "tables")
        report.write_audit_report(analysis, facts, [], folder, "An audit")


@pytest.mark.slow
@pytest.mark.parametrize("spoilt", ["table.csv", "mapping.yaml", "claims.yaml"])
def test_a_report_or_one_clear_sentence(spoilt: str, tmp_path: Path) -> None:
    ended = Counter[str]()
    for seed in range(N_SEEDS // 3):
        rng = random.Random(seed)
        files = {"table.csv": TABLES[0], "mapping.yaml": MAPPING, "claims.yaml": CLAIMS}
        if spoilt == "table.csv":
            files |= {"table.csv": rng.choice(TABLES), "mapping.yaml": "{}"}
        files[spoilt] = mutated(rng, files[spoilt])
        try:
            audit(files, tmp_path, analysed=ended["report"] % ANALYSED_EVERY == 0)
            ended["report"] += 1
        except (ConfigError, DataError) as error:
            for line in str(error).splitlines():
                assert line.startswith(str(tmp_path)), (seed, line)
                assert len(line) < 1000, (seed, line)
            ended["refused"] += 1
    assert min(ended["report"], ended["refused"]) > 5, ended
