"""Runs amid seeded trouble: ``PYTHONPATH=workflow python -m tools.soak --runs 50 --seed 1``.

Each has to end with its report and exit code 0 or 3, and may refuse no record but those that were
damaged. Results of runs that do not are kept.
"""

import argparse
import csv
import heapq
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from copycost.config.checkout import ROOT
from copycost.records.reading import REPETITIONS, UNUSABLE
from tools.bench.workflow_runs import project_copy
from tools.soak.troubles import (
    DISK_BYTES,
    FILLED,
    TROUBLES,
    Victim,
    clock_environment,
    descendants,
)

_CONFIGS = [ROOT / "config/tiny.yaml", Path(__file__).with_name("grid.yaml")]
_LONGEST_S = 3600.0
# Results and what Snakemake notes lie on a file system of their own, which only the run sees; and
# there is a lock of its own, so that what is stopped holds up nobody else.
_SCRIPT = f"""
mount -t tmpfs -o size={DISK_BYTES} results results || exit 99
mkdir results/.snakemake && mount --bind results/.snakemake .snakemake || exit 99
if test -d /run/lock; then mount -t tmpfs lock /run/lock; fi
./run --configfile "$1"
code=$?
rm -f results/{FILLED}
cp -r results/. "$2"
exit $code
"""
_NOT_GIVEN = {"PYTHONPATH", "SNAKEMAKE_PROFILE"}


def give_environment(project: Path) -> None:
    """Give a clone the environment of this process, marked as whole, as `run` does."""
    environment = project / ".venv"
    environment.mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        (environment / name).symlink_to(Path(sys.prefix, name))
    digest = sha256((project / "envs/requirements.txt").read_bytes()).hexdigest()
    python = (environment / "bin/python").resolve()
    stamp = f"{digest}  - {python} {project}\n"
    (environment / "requirements.stamp").write_text(stamp, encoding="utf-8")


def soak(seed: int, config: Path, names: Sequence[str], kept: Path) -> dict[str, object]:
    """Have a fresh clone run amid troubles, and return what became of it: a row of the table."""
    kept.mkdir(parents=True)
    begun_s = time.monotonic()
    with project_copy() as project, kept.with_suffix(".log").open("w") as log:
        give_environment(project)
        for name in ("results", ".snakemake"):
            (project / name).mkdir()
        clock = clock_environment(project) if "clock" in names else {}
        namespace = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
        process = subprocess.Popen(
            [*namespace, "sh", "-c", _SCRIPT, "sh", str(config), str(kept)],
            cwd=project,
            env={**{name: os.environ[name] for name in {*os.environ} - _NOT_GIVEN}, **clock},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        victim = Victim(process.pid, project, random.Random(seed))
        code = _trouble(process, victim, names)
    acts = ", ".join(f"{n} {what}" for what, n in sorted(victim.acts.items()))
    row: dict[str, object] = {"config": config.stem, "seed": seed, "exit_code": code}
    return row | judge(code, kept, victim.damaged) | {
        "duration_s": round(time.monotonic() - begun_s), "troubles": acts
    }  # fmt: skip


def _trouble(process: "subprocess.Popen[bytes]", victim: Victim, names: Sequence[str]) -> int:
    """Trouble a run until it ends, or has to be ended; return its exit code."""
    begun_s = time.monotonic()
    troubles = [TROUBLES[name](victim) for name in names]
    due = [(begun_s, number) for number in range(len(troubles))]
    try:
        while process.poll() is None and time.monotonic() < begun_s + _LONGEST_S:
            while due and due[0][0] <= time.monotonic():
                _, number = heapq.heappop(due)
                wait_s = next(troubles[number], None)
                if wait_s is not None:
                    heapq.heappush(due, (time.monotonic() + wait_s, number))
            time.sleep(0.01)
    finally:
        for trouble in troubles:
            trouble.close()
        for pid in () if process.poll() is not None else (process.pid, *descendants(process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    return process.wait()


def judge(code: int, kept: Path, damaged: set[Path]) -> dict[str, object]:
    """Return what a run's results say, and under `broken` what should not have been.

    Of its results, which are kept, only the records that were damaged may be refused.
    """
    aside = {one.relative_to(kept / "aside") for one in (kept / "aside").rglob("*.json")}
    statuses, reasons, refused = Counter[str](), Counter[str](), set(aside)
    for path in kept.glob("raw/**/rep=*.json"):
        try:
            said = [(one["status"], str(one["reason"])) for one in REPETITIONS.read(path)]
        except UNUSABLE:
            said = [("failed", "unreadable")]
        for status, reason in said:
            statuses[status] += 1
            if status == "failed":
                reasons[reason] += 1
            if reason == "unreadable" or "tries gave nothing of use" in reason:
                refused.add(path.relative_to(kept))
    report = kept / "report"
    has_report = _ends(report / "report.html", b"</html>") and _ends(
        report / "report.pdf", b"%%EOF"
    )
    odd = {
        f"exit code {code}": code not in (0, 3),
        "no whole report": not has_report,
        "nothing measured": not statuses["measured"],
        f"refused: {', '.join(sorted(map(str, refused - damaged)))}": not refused <= damaged,
    }
    return {
        "report": has_report,
        **{status: statuses[status] for status in ("measured", "failed", "skipped")},
        "aside": len(aside),
        "damaged": len(damaged),
        "broken": "; ".join(what for what, is_so in odd.items() if is_so),
        "reasons": "; ".join(f"{n} x {reason}" for reason, n in reasons.most_common()),
    }


def _ends(path: Path, end: bytes) -> bool:
    return path.is_file() and path.read_bytes().rstrip().endswith(end)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code: 1 if a run was not as it should be."""
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    parser.add_argument("--runs", type=int, default=2, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first; the next has one more")
    parser.add_argument("--configfile", type=Path, nargs="+", default=_CONFIGS, help="in turn")
    parser.add_argument("--troubles", nargs="*", choices=TROUBLES, default=[*TROUBLES])
    parser.add_argument("--out", type=Path, default=ROOT / "results/soak", help="a new folder")
    options = parser.parse_args(arguments)
    out, rows = options.out.resolve(), []
    for number in range(options.runs):
        config = options.configfile[number % len(options.configfile)].resolve()
        kept = out / f"run_{number + 1}"
        rows.append(soak(options.seed + number, config, options.troubles, kept))
        print("\n  ".join(f"{name}: {value}" for name, value in rows[-1].items()), flush=True)
        if not rows[-1]["broken"]:
            shutil.rmtree(kept)
        with (out / "soak.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[-1])
            table.writeheader()
            table.writerows(rows)
    short = [name for name in rows[-1] if name not in ("reasons", "troubles")]
    for cells in (short, *([str(row[name]) for name in short] for row in rows)):
        print(" ".join(f"{cell:>10}" for cell in cells))
    return 1 if any(row["broken"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
