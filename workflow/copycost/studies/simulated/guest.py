"""The guests of simulated counts: one is booted and saved for each way to start it."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from copycost.config.simulated import Simulated
from copycost.config.variants import VARIANTS
from copycost.errors import HostError, TookTooLong, Unavailable
from copycost.hosts.guest.kernel import find_kernel, find_other_kernel
from copycost.hosts.guest.qemu import find_qemu
from copycost.measure.simulated.image import DRIVERS, simulated_image
from copycost.measure.simulated.snapshot import SimulatedMachine, Snapshot, save_guest

_MADE = "made.json"


def read_made(folder: Path) -> dict[str, Any]:
    """Return whether a guest was saved in a folder: status (``measured``), reason and remedy."""
    made: dict[str, Any] = json.loads((folder / _MADE).read_text(encoding="utf-8"))
    return made


def outcome_of(failure: HostError) -> dict[str, str]:
    """Return status, reason and remedy; a guest does the same each time, but for how long."""
    if isinstance(failure, Unavailable):
        return {"status": "skipped", "reason": failure.reason, "remedy": failure.remedy}
    remedy = (
        "mend what is named (./run doctor tries QEMU and the plugin), then ./run --retry-failed"
    )
    if isinstance(failure, TookTooLong):
        remedy = "run again with ./run --retry-failed"
    return {"status": "failed", "reason": str(failure), "remedy": remedy}


def make_guest(
    start: str,
    section: Simulated,
    kernel: str,
    orchestrator: Path,
    programs: Iterable[Path],
    packages: Path,
    folder: Path,
) -> None:
    """Boot a guest and save it, or write down why there is none.

    `start` is the variant that says how it is started; `kernel` the path of the usual one, or
    ``auto``; `orchestrator` is simulated_cell, and `programs` run in cells; a kernel's package is
    unpacked in `packages`. The guest is saved in `folder`, which exists.
    """
    variant = VARIANTS[start]
    outcome: dict[str, Any] = {"status": "measured", "reason": None, "remedy": None}
    try:
        find_qemu()  # before a kernel is fetched
        other = section.sensitivity.kernel if variant.other_kernel else None
        found = (
            find_kernel(kernel, DRIVERS, packages)
            if other is None
            else find_other_kernel(other, kernel, DRIVERS, packages)
        )
        image, initrd = folder / "kernel", folder / "initrd"
        shutil.copyfile(found.image, image)
        simulated_image(found, orchestrator, programs).write(initrd)
        machine = SimulatedMachine(variant.cpu_features, variant.kernel_arguments)
        save_guest(machine, found, image, initrd, Snapshot.in_folder(folder))
        image.unlink()
        initrd.unlink()
    except HostError as failure:
        outcome = {**outcome_of(failure)}
    (folder / _MADE).write_text(json.dumps(outcome, indent=1) + "\n", encoding="utf-8")
