"""The command `audit`: a table of measurements, or a host of a fleet, in; a judged report out."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from copycost.compare.audit.claims.parse import read_claims
from copycost.compare.audit.claims.verdicts import judge_claim
from copycost.compare.audit.facts import audit_facts
from copycost.compare.audit.mapping import read_mapping
from copycost.compare.audit.plausibility import check_plausibility
from copycost.compare.audit.reader import read_dataset
from copycost.compare.audit.wording import fill
from copycost.compare.hosts.host_results import read_set
from copycost.compare.hosts.host_tables import tables_of
from copycost.errors import DataError
from copycost.report.typeset import FORMATS

HELP = "judge a table of measurements that somebody else made"

DESCRIPTION = """\
Read a table of measurements, whoever made it: run the analysis of our own reports on it, check
whether the numbers can be measurements, and test what is claimed of them. See docs/audit.md."""

EPILOG = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    add = parser.add_argument
    add("file", type=Path, metavar="FILE.csv",
        help="the measurements; or the folder of a host in a fleet")  # fmt: skip
    add("--mapping", type=Path, metavar="MAP.yaml", help="what the columns mean, where guesses "
        "fail (default: FILE.mapping.yaml, if it exists)")  # fmt: skip
    add("--claims", type=Path, metavar="CLAIMS.yaml", help="what is concluded from them (default: "
        "FILE.claims.yaml, if it exists)")  # fmt: skip
    add("--output", type=Path, metavar="FOLDER",
        help="where the report goes (default: results/audit/FILE)")  # fmt: skip
    add("--formats", nargs="+", choices=FORMATS, default=list(FORMATS), help="default: both")
    add("--json", action="store_true",
        help="print all that was found as JSON, and write no report")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Audit a file, or the host of a folder, and print the verdicts; return 0 whatever they are."""
    file: Path = options.file
    if file.is_dir():
        if not (file / "set.json").is_file():
            raise DataError(f"{file}: is no host of a fleet; name a folder host=NAME, or a table")
        cells = file / "cells.csv"
        tables_of(read_set(file)).cells.to_csv(cells, index=False)
        audit_file(cells, output=options.output or file / "report", formats=options.formats)
    else:
        audit_file(file, options.mapping, options.claims, options.output, options.formats,
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
) -> None:
    """Audit a file, write the report and say what it says.

    The YAML files beside the table are taken where none are given. With `as_json`, what it says is
    printed as ``audit.json`` has it, and nothing is written.
    """
    mapping, claims = (
        given or (beside if beside.exists() else None)
        for given, beside in (
            (mapping, file.with_name(f"{file.stem}.mapping.yaml")),
            (claims, file.with_name(f"{file.stem}.claims.yaml")),
        )
    )
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
        return
    print(fill("audit.txt.j2", audit=facts), end="")
    # Imported here: what is wrong with a file is said before figures and typesetting are loaded.
    from copycost.compare.audit.report import write_report

    folder = output or Path("results/audit") / file.stem
    for path in write_report(dataset, facts, folder, formats):
        print(f"report: {path}")
