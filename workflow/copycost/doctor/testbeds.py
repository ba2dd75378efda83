"""Which testbeds this user can build on this host, found by building them.

Each in a process of its own, since without root that enters a user namespace, out of which there is
no way back. It builds one, prints its facts and ends; the kernel then removes whatever was made.
"""

import json
import sys
from dataclasses import dataclass

from copycost.checkout import ROOT
from copycost.config.testbeds import TESTBEDS
from copycost.errors import HostError, Unavailable
from copycost.hosts.local import LocalHost
from copycost.hosts.namespaces import Isolation
from copycost.testbeds.testbed import open_testbed

_PROBE_TIMEOUT_S = 30.0
_OPTMEM_MAX = "proc/sys/net/core/optmem_max"
BUILD = """
import dataclasses, json, sys
from copycost.doctor.testbeds import build
print(json.dumps(dataclasses.asdict(build(sys.argv[1]))))
"""


@dataclass(frozen=True, slots=True)
class TestbedFacts:
    """Whether one testbed can be had here; if not, why, and what would make it so.

    It is isolated by namespaces made as root, or in a user namespace; "host" is the host's own
    loopback. `optmem_max` is net.core.optmem_max [bytes] where the sender runs: since Linux 6.8
    each network namespace has a value of its own, which the host's does not reach. None on other
    kernels.
    """

    available: bool
    isolation: Isolation | None = None
    optmem_max: int | None = None
    reason: str | None = None
    remedy: str | None = None


def probe_testbeds() -> dict[str, TestbedFacts]:
    """Build every testbed once and take it down again; other machines have facts of their own."""
    return {kind: _probe(kind) for kind in TESTBEDS if not TESTBEDS[kind].away}


def _probe(kind: str) -> TestbedFacts:
    command = ["env", f"PYTHONPATH={ROOT / 'workflow'}", sys.executable, "-c", BUILD, kind]
    try:
        done = LocalHost().run(command, timeout_s=_PROBE_TIMEOUT_S)
    except HostError:
        reason = f"building it took more than {_PROBE_TIMEOUT_S:.0f} s"
    except OSError as error:
        reason = f"no attempt could be made ({error})"
    else:
        if done.returncode == 0:
            return TestbedFacts(**json.loads(done.stdout))
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        reason = f"the attempt ended with code {done.returncode}: {said}"
    return TestbedFacts(False, reason=reason)


def build(kind: str) -> TestbedFacts:
    """Build a testbed, with this process in it for good, and tell how that went."""
    try:
        with open_testbed(next(known for known in TESTBEDS if known == kind)) as testbed:
            optmem_max = testbed.hosts["sender"].files.number(_OPTMEM_MAX)
            return TestbedFacts(True, testbed.isolation, optmem_max)
    except Unavailable as error:
        return TestbedFacts(False, reason=error.reason, remedy=error.remedy)
