"""The target that judges what others measured, on the real workflow."""

import json

from workflow.support import Checkout

TABLE = "impl,size,threads,gbps\nA1,4096,1,10.5\nA2,4096,1,11.5\n"
CLAIMS = """
- claim: one copy is faster
  compare: {metric: throughput, implementation: one_copy, with: two_copy, is: more}
"""


def audit(checkout: Checkout) -> str:
    done = checkout.snakemake(
        "--cores", "1", "audit", "--config", "dataset=my run.csv", "claims=c.yaml"
    )
    return done.stdout


def test_a_dataset_is_audited_without_measuring_and_again_only_if_it_changed(
    checkout: Checkout,
) -> None:
    (checkout.path / "my run.csv").write_text(TABLE, encoding="utf-8")
    (checkout.path / "c.yaml").write_text(CLAIMS, encoding="utf-8")
    assert "claim 1, supported" in audit(checkout)
    folder = checkout.path / "results" / "audit" / "my-run"
    verdicts = json.loads((folder / "audit.json").read_text(encoding="utf-8"))["claims"]
    assert [claim["verdict"] for claim in verdicts] == ["supported"]
    assert (folder / "report.html").is_file()
    assert (folder / "report.pdf").is_file()
    assert not (checkout.path / "results" / "raw").exists()
    assert "claim" not in audit(checkout)
    checkout.append("my run.csv", "A3,4096,1,9\n")
    assert "3 rows" in audit(checkout)
