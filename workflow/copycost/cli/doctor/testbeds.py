"""Which testbeds this user can build on this host, found by building them.

Each in a process of its own, since without root that enters a user namespace, out of which there is
no way back. It builds one, tells its facts and ends; the kernel then removes whatever was made.
"""

from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from signal import SIG_DFL, SIGINT, signal
from typing import Any

from copycost.config.testbeds import TESTBEDS
from copycost.errors import Unavailable, in_words
from copycost.hosts.testbeds.testbed import open_testbed

_PROBE_TIMEOUT_S = 30.0
_FORKS = get_context("fork")

Facts = dict[str, Any]


def probe_testbeds() -> dict[str, Facts]:
    """Build every testbed once and take it down again; other machines have facts of their own."""
    kinds = [kind for kind in TESTBEDS if not TESTBEDS[kind].away]
    begun = [_begin(kind) for kind in kinds]
    return {kind: _end(*one) for kind, one in zip(kinds, begun, strict=True)}


def _begin(kind: str) -> tuple[ForkProcess, Connection]:
    """Begin to build a testbed in a fork; return that, and where its facts will be told."""
    told, tells = _FORKS.Pipe(duplex=False)
    process = _FORKS.Process(target=_tell, args=(tells, kind), daemon=True)
    process.start()
    tells.close()  # so that its end is heard of
    return process, told


def _tell(tells: Connection, kind: str) -> None:
    signal(SIGINT, SIG_DFL)  # Ctrl-C ends this without a traceback beside that of others
    tells.send(build(kind))


def _end(process: ForkProcess, told: Connection) -> Facts:
    try:
        if told.poll(_PROBE_TIMEOUT_S):
            facts: Facts = told.recv()
            return facts
        reason = f"building it took more than {_PROBE_TIMEOUT_S:.0f} s"
    except EOFError:
        process.join()
        reason = f"the attempt ended with code {process.exitcode}"
    finally:
        process.kill()
        process.join()
        told.close()
    return _facts(reason=reason)


def build(kind: str) -> Facts:
    """Build a testbed, with this process in it for good, and tell how that went."""
    try:
        with open_testbed(kind) as testbed:
            files = testbed.hosts["sender"].files
            optmem_max = files.number("proc/sys/net/core/optmem_max")
            return _facts(available=True, isolation=testbed.isolation, optmem_max=optmem_max)
    except Unavailable as error:
        return _facts(reason=error.reason, remedy=error.remedy)
    except Exception as error:  # whatever it is, the other testbeds stand
        return _facts(reason=f"no attempt could be made ({in_words(error)})")


def _facts(**found: object) -> Facts:
    """Return whether a testbed can be had; if not, why, and what would make it so.

    It is isolated by namespaces made as root, or in a user namespace; "host" is the host's own
    loopback. `optmem_max` is net.core.optmem_max [bytes] where the sender runs: since Linux 6.8
    each network namespace has a value of its own, which the host's does not reach. None on other
    kernels.
    """
    names = ("isolation", "optmem_max", "reason", "remedy")
    return {"available": False, **dict.fromkeys(names), **found}
