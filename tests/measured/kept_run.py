"""A run in small: ``python kept_run.py TARGET OPTION...``; each line on its input is a repetition.

A repetition is a process of its own, which starts an agent there, has a program started, says who
is who, and waits to be told to end, by a line, or by the end of the run or of the connection.
"""

import os
import select
import sys

from copycost.hosts.processes import watched_parents
from copycost.hosts.program import Launch
from copycost.hosts.ssh.client import SshTarget
from copycost.hosts.ssh.host import reached

SLEEP = Launch(("/bin/sleep", "60"), "/bin/sleep")


def repetition(target: SshTarget, told_fd: int) -> None:
    with reached(target) as host, watched_parents() as parents:
        program = host.start(SLEEP)
        agent = host.run(["sh", "-c", "echo $PPID"]).stdout.strip()
        print(os.getpid(), agent, flush=True)
        select.select([told_fd, program.ended_fd, *parents], [], [])
        print("lost" if host._connection.lost else "over", flush=True)
        program.end()
        program.close()


def main() -> None:
    target = SshTarget(sys.argv[1], tuple(sys.argv[2:]))
    while word := os.read(0, 1):
        if word != b"r":
            continue
        told, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(tell)
            repetition(target, told)
            os._exit(0)
        os.close(told)
        ended = os.pidfd_open(pid)
        select.select([0, ended], [], [])
        os.close(tell)
        os.waitpid(pid, 0)
        os.close(ended)


if __name__ == "__main__":
    main()
