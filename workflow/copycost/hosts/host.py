"""A host: a place where programs run, files of the kernel are read, and a clock goes.

Whoever measures asks a `Host`, and knows not which kind it is: the machine that we run on, or a
network namespace of it (`copycost.hosts.local`, where each method is described), or a guest or
another machine that an agent serves (`copycost.hosts.remote.host`). What users must not assume:

Clocks
    `clock_ns` is the host's own CLOCK_MONOTONIC. What is planned for a host is said in its clock:
    ours plus `clock_offset_ns`, known to `clock_uncertainty_ns`; both 0 where a clock is shared.
No traffic in the window
    What is done at the edges of a window is prepared before it (`AtEdges`), so that a host far away
    can do it by itself, at its own times, and tell afterwards.
Machines
    Several hosts may be one `machine`, as namespaces are: one kernel, clock and set of CPUs.
Programs
    A `Launch` is data: descriptors are made where the program is started, and programs of ours are
    brought there by `path_of`. A program's end shows at `Program.ended_fd` whatever ended it, a
    connection that broke included.
Errors
    What a host does not have or allow is `Unavailable`, with a reason and a remedy; what went wrong
    is a `HostError`.
"""

from typing import TypeVar

from copycost.hosts.local import LocalHost, LocalReader
from copycost.hosts.program import LocalProgram
from copycost.hosts.remote.calls import PlannedThere, RemoteProgram, RemoteReader
from copycost.hosts.remote.host import RemoteHost
from copycost.hosts.window_edges import DoneHere

T = TypeVar("T")

Host = LocalHost | RemoteHost
Program = LocalProgram | RemoteProgram
Reader = LocalReader | RemoteReader
AtEdges = DoneHere[T] | PlannedThere[T]
