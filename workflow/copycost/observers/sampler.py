"""``perf record`` beside a measurement: attached to both sides, it samples in the window only."""

import signal
from collections.abc import Sequence
from typing import Any

from copycost.errors import CannotStart, HostError, ParseError
from copycost.hosts.host import Host, Program
from copycost.hosts.side import Side
from copycost.observers.protocol import WindowObserver
from copycost.observers.sampling_access import SamplingPlan, is_privileged
from copycost.perf.command import DATA, record_attached
from copycost.perf.script import Sampled, Stacks, read_samples
from copycost.perf.switch import tell_perf

# perf reads the maps of all processes that it attaches to before it listens; on a loaded host that
# takes its time, and longer with the threads or processes of further streams
_ATTACH_S = 1.5
_FURTHER_STREAM_S = 0.8
_READY_TIMEOUT_S = 10.0
_END_TIMEOUT_S = 30.0
# per CPU; holds a window's samples, so that perf itself sleeps through the window
_BUFFER = "4M"
_FIELDS = "comm,pid,tid,time,period,event,ip,sym,dso"


class Sampler(WindowObserver):
    """Samples the call stacks of both sides in the window.

    Parameters
    ----------
    plan
        How to call perf.
    n_threads
        Connections whose processes or threads it attaches to [count].

    Attributes
    ----------
    failure : str or None
        Why there are no samples, once that is known.
    """

    name = "sampling"
    takes_any_traffic = True

    def __init__(self, plan: SamplingPlan, n_threads: int) -> None:
        self.attach_s = _ATTACH_S + _FURTHER_STREAM_S * (n_threads - 1)
        self.failure: str | None = None
        self._plan = plan
        self._host: Host | None = None
        self._pids: dict[str, tuple[int, ...]] = {}
        self._perf: Program | None = None
        self._sampled: Sampled | None = None

    def attach(self, sides: Sequence[Side]) -> None:
        """Attach to the programs of the sides, and to the threads that they make; switched off."""
        plan = self._plan
        self._host = sides[0].host
        try:
            self._pids = {side.name: side.pids for side in sides}
            self._perf = self._host.start(
                record_attached(
                    plan.path,
                    plan.event,
                    plan.frequency_hz,
                    [pid for pids in self._pids.values() for pid in pids],
                    _BUFFER if is_privileged(self._host.files) else None,
                )
            )
        except CannotStart as error:
            self.failure = f"{error.path}: {error.why}"
        except HostError as error:
            self.failure = str(error)
        # it is off already; that it answers says that it has attached and listens
        self._tell("disable")

    def window_begins(self) -> None:
        """Switch the sampling on."""
        self._tell("enable")

    def window_ends(self) -> None:
        """Switch the sampling off, and have perf write what it has; it is not waited for."""
        self._tell("disable")
        if self._perf is not None:
            self._perf.signal(signal.SIGINT)

    def _tell(self, word: str) -> None:
        """Give perf a command and wait for its answer."""
        if self._perf is None or self.failure is not None:
            return
        if not tell_perf(self._perf, word, _READY_TIMEOUT_S):
            self._perf.end()
            said = _last_line(self._perf.errors())
            self.failure = f"perf record did not take the command {word!r}: {said}"

    def found(self) -> dict[str, Any]:
        """Return how it was sampled and how much; `stacks` has the rest.

        Raises
        ------
        HostError
            If there are no samples to be read; `failure` then says the same.
        ParseError
            If perf prints what is not known.
        """
        self._await_end()
        if self.failure is not None:
            raise HostError(self.failure)
        sampled = self._sampled = self._read()
        return {
            "event": self._plan.event,
            "source": self._plan.source,
            "frequency_hz": self._plan.frequency_hz,
            "call_graph": "fp",
            "perf_version": self._plan.version,
            "lost": sampled.lost,
            "truncated": sampled.truncated,
            "sides": {
                side: {"samples": one.samples, "weight": one.weight}
                for side, one in self.stacks.items()
            },
        }

    @property
    def stacks(self) -> dict[str, Stacks]:
        """What was sampled of each side; nothing before `found`."""
        if self._sampled is None:
            return {}
        return {side: self._sampled.of(pids) for side, pids in self._pids.items()}

    def _await_end(self) -> None:
        """Wait until perf has written its file."""
        if self._perf is None or self.failure is not None:
            return
        code = self._perf.wait(_END_TIMEOUT_S)
        if code is None:
            self.failure = f"perf record did not end within {_END_TIMEOUT_S:g} s"
        elif code not in (0, -signal.SIGINT, 128 + signal.SIGINT):
            said = _last_line(self._perf.errors())
            self.failure = f"perf record ended with exit status {code}: {said}"

    def _read(self) -> Sampled:
        assert self._host is not None
        assert self._perf is not None
        command = [
            *(self._plan.path, "script", "--input", self._perf.file_path(DATA)),
            *("--fields", _FIELDS),
            # inlined functions would be looked up in debug data, of which the kernel has none
            *("--no-inline", "--show-lost-events"),
        ]
        try:
            with self._host.stream(command) as lines:
                return read_samples(lines, "perf script")
        except (HostError, ParseError) as error:
            self.failure = str(error)
            raise

    def close(self) -> None:
        """End perf, in whatever state it is; its file goes with it."""
        if self._perf is not None:
            self._perf.end()
            self._perf.close()


def _last_line(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"
