"""The command `audit`: one file of measurements in, a judged report out."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from copycost.analysis.json_values import Facts
from copycost.audit.claims.read import read_claims
from copycost.audit.claims.verdicts import judge
from copycost.audit.engine import analyse
from copycost.audit.mapping import read_mapping
from copycost.audit.plausibility import check_plausibility
from copycost.audit.reader import read_dataset
from copycost.audit.verdict import Audit, audit_facts
from copycost.wording.plurals import plural

FORMATS = ("html", "pdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("file", type=Path, metavar="FILE.csv", help="the measurements")
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


def run(options: argparse.Namespace) -> int:
    """Audit a file and print the verdicts; return 0 whatever they are.

    Raises
    ------
    CopycostError
        If the file, the mapping or the claims cannot be read.
    """
    audit_file(options.file, options.mapping, options.claims, options.output, options.formats)
    return 0


def audit_file(
    file: Path,
    mapping: Path | None = None,
    claims: Path | None = None,
    output: Path | None = None,
    formats: Sequence[str] = FORMATS,
) -> Path:
    """Audit a file, write the report and say what it says; return the report's folder.

    Parameters
    ----------
    file
        The measurements, a text table.
    mapping, claims
        YAML files; where None, those beside the file, if there are any.
    output
        The folder to write; ``results/audit/NAME`` if None.
    formats
        ``html``, ``pdf``.
    """
    mapping = mapping or _beside(file, "mapping")
    claims = claims or _beside(file, "claims")
    folder = output or Path("results/audit") / file.stem
    dataset = read_dataset(file, read_mapping(mapping))
    stated = read_claims(claims, dataset) if claims else []
    findings = check_plausibility(dataset)
    judged = [judge(claim, dataset, findings) for claim in stated]
    command = [str(file)]
    for option, path in (("--mapping", mapping), ("--claims", claims), ("--output", output)):
        command += [option, str(path)] if path else []
    facts = audit_facts(Audit(dataset, findings, judged, command))
    _say(facts)
    # Imported here: what is wrong with a file is said before figures and typesetting are loaded.
    from copycost.audit import report

    folder.mkdir(parents=True, exist_ok=True)
    analysed = analyse(dataset)
    report.write_tables(analysed, folder / "tables")
    figures = report.draw_figures(analysed, folder / "figures")
    qmd = report.write_audit_report(analysed, facts, figures, folder, f"Audit of {file.stem}")
    for path in report.render(qmd, [kind for kind in ("html", "pdf") if kind in formats]):
        print(f"report: {path}")
    return folder


def _beside(file: Path, what: str) -> Path | None:
    path = file.with_name(f"{file.stem}.{what}.yaml")
    return path if path.exists() else None


def _say(facts: Facts) -> None:
    """Print findings and verdicts, one line each."""
    findings, claims = facts["findings"], facts["claims"]
    n_rows, n_cells = facts["n_rows"], facts["n_cells"]
    print(f"{facts['file']}: {plural(n_rows, 'row')}, {plural(n_cells, 'cell')}")
    for finding in findings:
        print(f"{finding['kind']} ({finding['sureness']}): {finding['found']}")
    if not findings:
        print("no check speaks against the numbers being measurements")
    for number, judged in enumerate(claims, 1):
        scope = f" ({judged['scope']})" if judged["scope"] else ""
        print(f"claim {number}, {judged['verdict']}: {judged['text']}{scope}. {judged['because']}")
