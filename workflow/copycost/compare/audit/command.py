"""The command `audit`: one file of measurements in, a judged report out."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from copycost.compare.audit.claims.parse import read_claims
from copycost.compare.audit.claims.verdicts import judge_claim
from copycost.compare.audit.dataset_analysis import analyse_dataset
from copycost.compare.audit.facts import audit_facts
from copycost.compare.audit.mapping import read_mapping
from copycost.compare.audit.plausibility import check_plausibility
from copycost.compare.audit.reader import read_dataset
from copycost.compare.audit.wording import fill
from copycost.report.typeset import FORMATS, render_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "file", type=Path, metavar="FILE.csv",
        help="the measurements; or the folder of a host in a fleet",
    )  # fmt: skip
    parser.add_argument(
        "--mapping", type=Path, metavar="MAP.yaml",
        help="what the columns mean, where guesses fail (default: FILE.mapping.yaml, if it exists)",
    )  # fmt: skip
    parser.add_argument(
        "--claims", type=Path, metavar="CLAIMS.yaml",
        help="what is concluded from them (default: FILE.claims.yaml, if it exists)",
    )  # fmt: skip
    parser.add_argument(
        "--output", type=Path, metavar="FOLDER",
        help="where the report goes (default: results/audit/FILE)",
    )  # fmt: skip
    parser.add_argument(
        "--formats", nargs="+", choices=FORMATS, default=list(FORMATS), help="default: both"
    )
    parser.add_argument(
        "--json", action="store_true", help="print all that was found as JSON, and write no report"
    )


def run(options: argparse.Namespace) -> int:
    """Audit a file and print the verdicts; return 0 whatever they are."""
    audit_file(options.file, options.mapping, options.claims, options.output, options.formats,
               as_json=options.json)  # fmt: skip
    return 0


def audit_file(
    file: Path,
    mapping: Path | None = None,
    claims: Path | None = None,
    output: Path | None = None,
    formats: Sequence[str] = FORMATS,
    *,
    as_json: bool = False,
) -> Path:
    """Audit a file, write the report and say what it says; return the report's folder.

    The YAML files beside the table are taken where none are given. With `as_json`, what it says is
    printed as ``audit.json`` has it, and nothing is written.
    """
    beside = {what: file.with_name(f"{file.stem}.{what}.yaml") for what in ("mapping", "claims")}
    mapping = mapping or (beside["mapping"] if beside["mapping"].exists() else None)
    claims = claims or (beside["claims"] if beside["claims"].exists() else None)
    folder = output or Path("results/audit") / file.stem
    dataset = read_dataset(file, read_mapping(mapping))
    stated = read_claims(claims, dataset) if claims else []
    findings = check_plausibility(dataset)
    judged = [judge_claim(claim, dataset, findings) for claim in stated]
    command = [str(file)]
    for option, path in (("--mapping", mapping), ("--claims", claims), ("--output", output)):
        command += [option, str(path)] if path else []
    facts = audit_facts(dataset, findings, judged, command)
    if as_json:
        print(json.dumps(facts, indent=1, ensure_ascii=False))
        return folder
    print(fill("audit.txt.j2", audit=facts), end="")
    # Imported here: what is wrong with a file is said before figures and typesetting are loaded.
    from copycost.compare.audit import report

    folder.mkdir(parents=True, exist_ok=True)
    analysed = analyse_dataset(dataset)
    report.write_tables(analysed, folder / "tables")
    figures = report.draw_figures(analysed, folder / "figures")
    qmd = report.write_audit_report(analysed, facts, figures, folder, f"Audit of {file.stem}")
    for path in render_report(qmd, [kind for kind in ("html", "pdf") if kind in formats]):
        print(f"report: {path}")
    return folder
