"""How perf is called."""

import os
from typing import Any

from copycost.perf.command import ControlPipes, PerfPlan, perf_command, plan_perf


def host(status: str, **events: str) -> dict[str, Any]:
    facts = {n: {"perf_name": n.replace("_", "-"), "status": s} for n, s in events.items()}
    return {"perf": {"path": "/usr/bin/perf", "status": status, "events": facts}}


def test_only_supported_events_are_asked_for() -> None:
    plan = plan_perf(host("available", page_faults="supported", cycles="not_supported"))
    assert plan == PerfPlan("/usr/bin/perf", {"page_faults": "page-faults"})


def test_there_is_no_plan_without_perf_or_events() -> None:
    assert plan_perf(host("missing", page_faults="not_supported")) is None
    assert plan_perf(host("forbidden", page_faults="supported")) is None
    assert plan_perf(host("available", cycles="not_supported")) is None


def test_the_command_starts_switched_off_and_passes_the_program_on() -> None:
    pipes = ControlPipes(10, 11, 12, 13)
    plan = PerfPlan("/usr/bin/perf", {"cycles": "cycles", "ref_cycles": "msr/tsc/"})
    command = perf_command(plan, pipes, 9, ["sender", "--threads", "1"])
    assert command[command.index("--delay") + 1] == "-1"
    assert command[command.index("--control") + 1] == "fd:10,13"
    assert command[command.index("--event") + 1] == "cycles,msr/tsc/"
    assert command[-4:] == ["--", "sender", "--threads", "1"]
    assert pipes.program_option == ["--perf-fds", "11,12"]


def test_pipes_are_not_inherited_by_accident() -> None:
    pipes = ControlPipes.make()
    try:
        assert not any(os.get_inheritable(fd) for fd in pipes.fds)
    finally:
        for fd in pipes.fds:
            os.close(fd)
