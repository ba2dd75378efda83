"""Run both sides of one repetition on a testbed, and collect what they, perf and the kernel say."""

import json
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from copycost.drivers.failure import Verdict, judge, judge_exits, judge_traffic, judge_windows
from copycost.drivers.programs.command import side_command
from copycost.drivers.programs.conversation import Conversation, SideEnded
from copycost.drivers.programs.edges import make_edges_prompt
from copycost.drivers.programs.side import PerfUnusable, Side, SideName, end_sides, start_side
from copycost.drivers.programs.task import Task
from copycost.drivers.programs.working_set import check_ring
from copycost.errors import CopycostError, ParseError
from copycost.hosts.parent import MeasurementStopped
from copycost.hosts.placement import Placement
from copycost.observers.kernel_counters import KernelCounters, KernelSnapshot
from copycost.perf.command import PerfPlan
from copycost.perf.counters import join_counts
from copycost.perf.output import parse_perf
from copycost.records.record import PerfSide, PerfSides, SinkFacts, prepare_check
from copycost.testbeds.settle import settle_sink
from copycost.testbeds.testbed import Testbed

# how long a side may take to end by itself once its control line is closed
_GRACE_S = 1.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What both sides, perf (None: it was not used), kernel and sink said about one window.

    `receiver` and its counts are None where nobody receives, `sink` everywhere else.
    """

    sender: dict[str, Any]
    receiver: dict[str, Any] | None
    perf: PerfSides | None
    kernel: KernelSnapshot
    sink: SinkFacts | None


def run_attempt(
    task: Task, placement: Placement, testbed: Testbed, plan: PerfPlan | None
) -> Measurement | Verdict:
    """Measure once, or say why it did not work; no process is left in either case.

    Raises
    ------
    PerfUnusable
        If perf gave up before its program began; without perf it may still work.
    Unavailable
        If the messages that had to exist at once were no such working set.
    MeasurementStopped
        If the workflow is gone.
    """
    conversation = Conversation(task.io_timeout_s, task.parent_fds)
    sides = conversation.sides
    try:
        try:
            kernel = _converse(task, placement, testbed, plan, conversation)
        except (PerfUnusable, MeasurementStopped):
            raise
        except CopycostError as error:
            end_sides(sides, _GRACE_S)
            _log_stderr(sides)
            _raise_if_perf_failed(error, sides)
            return judge(error, sides)
        end_sides(sides, _GRACE_S)
        _log_stderr(sides)
        return judge_exits(sides) or _collect(task, testbed, plan, sides, kernel)
    finally:
        # also after Ctrl-C: then at once
        end_sides(sides, 0)
        for side in sides:
            side.close()


def _converse(
    task: Task,
    placement: Placement,
    testbed: Testbed,
    plan: PerfPlan | None,
    conversation: Conversation,
) -> KernelSnapshot:
    """Start both sides, lead them through the window, and return the kernel's differences."""
    token = secrets.token_hex(8)

    def start(name: SideName, *more: str) -> None:
        command = [*side_command(task, placement, testbed, name, token), *more]
        conversation.sides.append(start_side(name, command, testbed, plan, task.lock_fd))

    start("sender")
    prepare_check()  # the sender takes about as long to start
    cpus = (*placement.sender_cpus, *placement.receiver_cpus)
    with KernelCounters(testbed, cpus) as counters:
        port = conversation.read_port()
        if task.receiver is not None:
            start("receiver", "--port", str(port))
        conversation.await_ready()
        if task.onlooker is not None:
            task.onlooker.attach(conversation.sides)
        make_edges_prompt(conversation.sides)
        start_ns, end_ns = conversation.open_window(
            task.settings.warmup_s, task.settings.duration_s
        )
        conversation.watch_until(start_ns, "window")
        before = counters.snapshot()
        if task.onlooker is not None:
            task.onlooker.window_begins()
        conversation.watch_until(end_ns, "drain")
        after = counters.snapshot()
        if task.onlooker is not None:
            task.onlooker.window_ends()
    conversation.await_end()
    return after - before


def _collect(
    task: Task, testbed: Testbed, plan: PerfPlan | None, sides: list[Side], kernel: KernelSnapshot
) -> Measurement | Verdict:
    """Read what the sides, perf and the sink have to say."""
    reports: dict[SideName, dict[str, Any]] = {}
    for side in sides:
        try:
            report = json.loads(side.output())
        except ValueError:
            report = None
        if not isinstance(report, dict):
            found = f"the {side.name} printed no JSON object but {side.output()[:80]!r}"
            return Verdict("failed", found, "build the programs again: delete results/bin")
        reports[side.name] = report
    if task.onlooker is None:  # which may stop a side, and has an account of its own
        interval_us = task.settings.interval_us
        wrong = judge_windows(reports) or judge_traffic(reports, interval_us)
        if wrong is not None:
            return wrong
    sender = reports["sender"]
    check_ring(task.cell.working_set, sender["ring"]["bytes"], task.cell.implementation)
    perf: PerfSides | None = None
    if plan is not None:
        counts = {side.name: _perf_counts(task.host, plan, side) for side in sides}
        perf = {"sender": counts["sender"], "receiver": counts.get("receiver")}
    sink = None
    if testbed.drop_hook is not None:
        sink = settle_sink(testbed.drop_hook, sender["total"], task.cell.msg_bytes)
    return Measurement(sender, reports.get("receiver"), perf, kernel, sink)


def _perf_counts(host: Mapping[str, Any], plan: PerfPlan, side: Side) -> PerfSide:
    try:
        counts = parse_perf(side.perf_output(), f"perf's output for the {side.name}")
    except ParseError as error:
        failed = join_counts(host, plan, ())
        return {**failed, "status": "failed", "reason": str(error)}
    if not counts:
        failed = join_counts(host, plan, ())
        return {**failed, "status": "failed", "reason": f"perf counted nothing: {side.errors()}"}
    return join_counts(host, plan, counts)


def _raise_if_perf_failed(error: CopycostError, sides: list[Side]) -> None:
    """Tell perf's own failure from the program's, which always says a line with its name."""
    for side in sides:
        if not (isinstance(error, SideEnded) and error.name == side.name and side.under_perf):
            continue
        if error.during == "handshake" and not side.last_words and side.ended_by_signal() is None:
            said = " ".join(side.errors()) or "nothing"
            code = side.process.returncode
            raise PerfUnusable(f"perf ended with exit status {code}, saying: {said}") from error


def _log_stderr(sides: list[Side]) -> None:
    for side in sides:
        for line in side.errors():
            _log.info("%s wrote: %s", side.name, line)
