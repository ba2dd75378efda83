"""Where and how often the benchmark measures streams, and who runs in what order."""

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from copycost.grid.placements import APART
from copycost.hosts.placement import place
from copycost.measure.claim import Claim, claimed
from copycost.testbeds.testbed import Testbed, open_testbed
from tools.bench.iperf import Stream
from tools.bench.pair import Programs, message_ns, received_rate, run_pair


@dataclass(frozen=True, slots=True)
class Bench:
    """A testbed, the programs to run on it, and how often.

    Attributes
    ----------
    rounds : int
        Rounds of every comparison; a round holds one run of each contender.
    most_rounds : int
        Rounds at most where the first ones do not settle whether a limit is kept.
    stream : Stream
        Seconds and CPUs of every run; size and number of streams are replaced.
    seed : int
        Seed of the order of the contenders within a round.
    """

    testbed: Testbed
    programs: Programs
    claim: Claim
    rounds: int
    most_rounds: int
    stream: Stream
    seed: int

    def pair_rate(self, sender: str, stream: Stream) -> float:
        """Run our pair and return what was received [bit/s]."""
        return received_rate(run_pair(self.claim, self.testbed, self.programs, sender, stream))

    def message_ns(self, sender: str, stream: Stream) -> float:
        """Run our pair and return the sender's time per message [ns]."""
        return message_ns(run_pair(self.claim, self.testbed, self.programs, sender, stream))

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
    """Build the programs and the testbed, and keep other measurements out.

    Parameters
    ----------
    folder : Path
        Where the programs are built.
    root : Path
        The project.

    Raises
    ------
    HostError
        If the programs or the testbed cannot be made here.
    """
    programs = Programs(folder)
    programs.build(["two_copy", "null"], root)
    with claimed("bench") as claim, open_testbed("veth", claim.machine) as testbed:
        cpus = place(claim.machine, APART, None, None)
        stream = Stream(0, 0, 1, duration_s, cpus.sender_cpus, cpus.receiver_cpus)
        yield Bench(testbed, programs, claim, rounds, most_rounds, stream, seed)
