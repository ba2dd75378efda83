"""Which testbeds this user can build on this host, found by building them.

Each in a process of its own, since without root that enters a user namespace, out of which there is
no way back. It builds one, tells its facts and ends; the kernel then removes whatever was made.
"""

from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess

from copycost.config.testbeds import TESTBEDS
from copycost.errors import Unavailable, in_words
from copycost.hosts.namespaces import Isolation
from copycost.testbeds.testbed import open_testbed

_PROBE_TIMEOUT_S = 30.0
_OPTMEM_MAX = "proc/sys/net/core/optmem_max"
_FORKS = get_context("fork")


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
    kinds = [kind for kind in TESTBEDS if not TESTBEDS[kind].away]
    begun = [_begin(kind) for kind in kinds]
    return {kind: _end(*one) for kind, one in zip(kinds, begun, strict=True)}


def _begin(kind: str) -> tuple[ForkProcess, Connection]:
    """Begin to build a testbed in a fork; return that, and where its facts will be told."""
    told, tells = _FORKS.Pipe(duplex=False)
    process = _FORKS.Process(target=lambda: tells.send(_build_or_say_why(kind)), daemon=True)
    try:
        process.start()
    except OSError as error:  # no process more is allowed
        tells.send(_not_tried(error))
    tells.close()  # so that its end is heard of
    return process, told


def _end(process: ForkProcess, told: Connection) -> TestbedFacts:
    try:
        if told.poll(_PROBE_TIMEOUT_S):
            facts: TestbedFacts = told.recv()
            return facts
        reason = f"building it took more than {_PROBE_TIMEOUT_S:.0f} s"
    except EOFError:
        process.join()
        reason = f"the attempt ended with code {process.exitcode}"
    finally:
        if process.pid is not None:
            process.kill()
            process.join()
        told.close()
    return TestbedFacts(False, reason=reason)


def _build_or_say_why(kind: str) -> TestbedFacts:
    try:
        return build(kind)
    except Exception as error:  # whatever it is, the other testbeds stand
        return _not_tried(error)


def _not_tried(error: Exception) -> TestbedFacts:
    return TestbedFacts(False, reason=f"no attempt could be made ({in_words(error)})")


def build(kind: str) -> TestbedFacts:
    """Build a testbed, with this process in it for good, and tell how that went."""
    try:
        with open_testbed(next(known for known in TESTBEDS if known == kind)) as testbed:
            optmem_max = testbed.hosts["sender"].files.number(_OPTMEM_MAX)
            return TestbedFacts(True, testbed.isolation, optmem_max)
    except Unavailable as error:
        return TestbedFacts(False, reason=error.reason, remedy=error.remedy)
