"""Build one testbed in a process of its own and say how that went.

``python -m copycost.doctor.testbed_probe veth`` prints one JSON object and ends; the kernel
then removes whatever was made. A process of its own, since without root it enters a user
namespace, out of which there is no way back.
"""

import json
import sys

from copycost.config.testbeds import TESTBEDS
from copycost.errors import Unavailable
from copycost.testbeds.testbed import open_testbed

_OPTMEM_MAX = "proc/sys/net/core/optmem_max"


def main() -> None:
    """Print how the testbed named on the command line is isolated, or why it cannot be had.

    Keys: ``isolation``, ``reason``, ``remedy``, and ``optmem_max`` [bytes] at the sender; null
    where there is nothing to say.
    """
    kind = next(kind for kind in TESTBEDS if kind == sys.argv[1])
    answer: dict[str, object] = dict.fromkeys(("isolation", "reason", "remedy", "optmem_max"))
    try:
        with open_testbed(kind) as testbed:
            answer["isolation"] = testbed.isolation
            answer["optmem_max"] = testbed.hosts["sender"].files.number(_OPTMEM_MAX)
    except Unavailable as error:
        answer["reason"], answer["remedy"] = error.reason, error.remedy
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
