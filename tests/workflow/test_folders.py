"""Where a checkout and its environment may lie, and what is said of targets that are not there."""

import subprocess
import sys
from pathlib import Path

from workflow.support import TIMEOUT_S, clean_environment, new_checkout


def environment_at(folder: Path) -> Path:
    """Give this Python environment a further place, and return the interpreter there."""
    folder.mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        original = Path(sys.prefix, name)
        if original.exists():
            (folder / name).symlink_to(original)
    return folder / "bin" / "python"


def test_folders_with_spaces_and_umlauts_are_as_good_as_others(tmp_path: Path) -> None:
    checkout = new_checkout(tmp_path / "für später")
    python = environment_at(tmp_path / "für später" / "my environment")
    made = ["results/config.yaml", "results/bin/memory_floor"]
    done = subprocess.run(
        [python, "-m", "snakemake", "--cores", "1", *made],
        cwd=checkout.path,
        env=clean_environment() | {"LC_ALL": "C", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert all((checkout.path / name).is_file() for name in made)


def test_a_misspelt_target_is_answered_in_a_sentence(tmp_path: Path) -> None:
    done = new_checkout(tmp_path / "checkout").snakemake("-n", "tabels", check=False)
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert "copycost: tabels: there is no such target; targets are measure, tables, " in said
    assert "did you mean tables?" in said
    assert "Traceback" not in said
