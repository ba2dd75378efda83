"""Which testbeds this user can build on this host, found by building them."""

import json
import sys
from dataclasses import dataclass

from copycost.checkout import ROOT
from copycost.config.testbeds import TESTBEDS
from copycost.errors import HostError
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import Isolation

_PROBE_TIMEOUT_S = 30.0
_PACKAGE_ROOT = ROOT / "workflow"


@dataclass(frozen=True, slots=True)
class TestbedFacts:
    """Whether one testbed can be had here.

    Attributes
    ----------
    isolation
        Namespaces made as root, or in a user namespace; "host" for the host's own loopback.
    optmem_max
        net.core.optmem_max [bytes] where the sender runs: since Linux 6.8 each network namespace
        has a value of its own, which the host's does not reach. None on other kernels.
    reason, remedy
        Why it is not available and what would make it so; None where it is available.
    """

    available: bool
    isolation: Isolation | None
    optmem_max: int | None
    reason: str | None
    remedy: str | None


def probe_testbeds() -> dict[str, TestbedFacts]:
    """Build every testbed once and take it down again; other machines have facts of their own."""
    return {kind: _probe(kind) for kind in TESTBEDS if not TESTBEDS[kind].away}


def _probe(kind: str) -> TestbedFacts:
    # in a process of its own, which may have to enter a user namespace for good
    probe = [sys.executable, "-m", "copycost.doctor.testbed_probe", kind]
    command = ["env", f"PYTHONPATH={_PACKAGE_ROOT}", *probe]
    try:
        done = LocalHost().run(command, timeout_s=_PROBE_TIMEOUT_S)
    except HostError:
        return TestbedFacts(
            False, None, None, f"building it took more than {_PROBE_TIMEOUT_S:.0f} s", None
        )
    except OSError as error:
        return TestbedFacts(False, None, None, f"no attempt could be made ({error})", None)
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        return TestbedFacts(
            False, None, None, f"the attempt ended with code {done.returncode}: {said}", None
        )
    answer = json.loads(done.stdout)
    return TestbedFacts(
        available=answer["reason"] is None,
        isolation=answer["isolation"],
        optmem_max=answer["optmem_max"],
        reason=answer["reason"],
        remedy=answer["remedy"],
    )
