"""Requests that an agent does by itself at their times: a method for each request about them."""

import heapq
import time
from collections.abc import Callable, Sequence
from typing import Any

from copycost.hosts.local import LocalHost
from copycost.hosts.remote.messages import Message, answer_of

# poll(2) counts whole milliseconds: the last one before a planned moment is slept through
_POLL_GRAIN_NS = 1_000_000


class ServedPlans:
    """The plans of one session, by the host's clock; `do` does a request."""

    def __init__(self, host: LocalHost, do: Callable[[Message], Any]) -> None:
        self._host = host
        self._do = do
        self._due: list[tuple[int, int, int]] = []  # a heap: when [ns], see `_do_plan`, place
        self._plans: dict[int, list[Message]] = {}
        self._done: dict[int, dict[int, Message]] = {}

    def left_ms(self) -> int | None:
        """Return how long nothing is due [ms]; None for ever."""
        if not self._due:
            return None
        left_ns = self._due[0][0] - self._host.clock_ns() - _POLL_GRAIN_NS
        return max(0, left_ns) // _POLL_GRAIN_NS

    def do_what_is_due(self) -> None:
        """Do what is planned for now."""
        while self._due and self._due[0][0] <= self._host.clock_ns() + _POLL_GRAIN_NS:
            self._perform_next()

    def _perform_next(self) -> None:
        """Do what is planned next, at its time."""
        at_ns, order, place = heapq.heappop(self._due)
        plan = abs(order)
        time.sleep(max(0, at_ns - self._host.clock_ns()) / 1e9)
        self._done[plan][place] = answer_of(lambda: self._do(self._plans[plan][place]))

    def _do_plan(self, plan: int, requests: Sequence[tuple[int, Message]]) -> None:
        """Take requests that are to be done at their times, in place of the plan's earlier ones."""
        self._do_forget_plan(plan)
        self._plans[plan] = [request for _, request in requests]
        self._done[plan] = {}
        for place, (at_ns, _) in enumerate(requests):
            # what was planned first begins first and ends last
            order = -plan if place else plan
            heapq.heappush(self._due, (at_ns, order, place))

    def _do_planned(self, plan: int) -> list[Message]:
        """Return the answers to all requests of a plan, when the last of them is done."""
        while len(self._done[plan]) < len(self._plans[plan]):
            self._perform_next()
        return [self._done[plan][place] for place in range(len(self._plans[plan]))]

    def _do_forget_plan(self, plan: int) -> None:
        self._plans.pop(plan, None)
        self._done.pop(plan, None)
        self._due = [one for one in self._due if abs(one[1]) != plan]
        heapq.heapify(self._due)
