"""How perf is called."""

from typing import Any

from copycost.hosts.launch import Launch
from copycost.perf.command import PerfPlan, plan_perf, record_attached, stat_around, stat_attached

PLAN = PerfPlan("/usr/bin/perf", {"cycles": "cycles", "ref_cycles": "msr/tsc/"})
CONTROL = "fd:{pipe:perf_control:read},{pipe:perf_ack:write}"


def host(status: str, **events: str) -> dict[str, Any]:
    facts = {n: {"perf_name": n.replace("_", "-"), "status": s} for n, s in events.items()}
    return {"perf": {"path": "/usr/bin/perf", "status": status, "events": facts}}


def test_only_supported_events_are_asked_for() -> None:
    facts = host("available", page_faults="supported", cycles="not_supported", faults="supported")
    only = plan_perf(facts, only=("page_faults", "cycles"))
    assert only == PerfPlan("/usr/bin/perf", {"page_faults": "page-faults"})
    both = plan_perf(facts)
    assert both is not None
    assert set(both.events) == {"page_faults", "faults"}
    assert plan_perf(host("missing", page_faults="not_supported")) is None
    assert plan_perf(host("forbidden", page_faults="supported")) is None
    assert plan_perf(host("available", cycles="not_supported")) is None


def test_around_a_program_perf_starts_switched_off_and_hands_it_the_other_ends() -> None:
    plain = Launch(("/bin/sender", "--threads", "1"), "/bin/sender", control=True)
    launch = stat_around(PLAN, plain)
    words = launch.words
    assert words[words.index("--delay") + 1] == "-1"
    assert words[words.index("--control") + 1] == CONTROL
    assert words[words.index("--event") + 1] == "cycles,msr/tsc/"
    fds = "{pipe:perf_control:write},{pipe:perf_ack:read}"
    assert words[words.index("--") + 1 :] == (*plain.words, "--perf-fds", fds)
    assert (launch.program, launch.control) == (plain.program, plain.control)


def test_attached_it_starts_switched_off_too() -> None:
    counting = stat_attached(PLAN, [7, 9])
    sampling = record_attached("/usr/bin/perf", "cpu-clock", 999, [7, 9], buffer="4M")
    for launch in (counting, sampling):
        assert launch.words[launch.words.index("--pid") + 1] == "7,9"
        assert launch.words[launch.words.index("--delay") + 1] == "-1"
        assert launch.words[launch.words.index("--control") + 1] == CONTROL
    assert sampling.words[sampling.words.index("--mmap-pages") + 1] == "4M"
    assert "--mmap-pages" not in record_attached("perf", "cpu-clock", 999, [7], None).words
