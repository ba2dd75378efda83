"""How perf is called."""

from typing import Any

from copycost.perf.command import PerfPlan, plan_perf


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
