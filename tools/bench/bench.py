"""Where and how often the benchmark measures streams, and who runs in what order."""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from copycost.config.placements import APART, PLACEMENTS
from copycost.hosts.placement import Placement, place
from copycost.measure.bench import HeldHost, locked_host
from copycost.testbeds.testbed import Testbed, open_testbed
from tools.bench.pair import Programs, message_ns, received_rate, run_pair
from tools.bench.yardstick import Stream


@dataclass(frozen=True, slots=True)
class Bench:
    """A testbed, the programs to run on it, and how often.

    A round holds one run of each contender, in an order of its own from the seed; there are
    `most_rounds` at most where the first ones do not settle whether a limit is kept. The stream
    states the seconds of every run, with both ends apart; its size and number are replaced.
    """

    testbed: Testbed
    programs: Programs
    held: HeldHost
    rounds: int
    most_rounds: int
    placements: Mapping[str, Placement]
    stream: Stream
    seed: int

    def pair_rate(self, sender: str, stream: Stream) -> float:
        """Run our pair and return what was received [bit/s]."""
        return received_rate(run_pair(self.held, self.testbed, self.programs, sender, stream))

    def message_ns(self, sender: str, stream: Stream) -> float:
        """Run our pair and return the sender's time per message [ns]."""
        return message_ns(run_pair(self.held, self.testbed, self.programs, sender, stream))

    def everywhere(self, stream: Stream) -> dict[str, Stream]:
        """Return a stream in each placement, by its name."""
        return {
            name: replace(stream, placement=placement)
            for name, placement in self.placements.items()
        }

    def in_rounds(
        self, contenders: Mapping[str, Callable[[], float]], first: int, end: int
    ) -> dict[str, list[float]]:
        """Run every contender once per round, in a new order each time; return all results.

        The rounds are numbered from `first`, counted from 0, up to and without `end`.
        """
        order = random.Random(f"{self.seed} {first}")
        results: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(first, end):
            for name in order.sample(sorted(contenders), len(contenders)):
                results[name].append(contenders[name]())
        return results


@contextmanager
def open_bench(
    folder: Path, root: Path, *, rounds: int, most_rounds: int, duration_s: int, seed: int
) -> Iterator[Bench]:
    """Build the programs in a folder and the testbed, and keep other measurements out.

    Raises
    ------
    HostError
        If the programs or the testbed cannot be made here.
    """
    programs = Programs(folder)
    programs.build(["two_copy", "null"], root)
    with locked_host("bench") as held, open_testbed("veth", held.machine) as testbed:
        placements = {name: place(held.machine, name, None, None) for name in PLACEMENTS}
        stream = Stream(0, 0, 1, duration_s, placements[APART])
        yield Bench(testbed, programs, held, rounds, most_rounds, placements, stream, seed)
