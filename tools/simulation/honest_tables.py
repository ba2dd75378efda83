"""How often the audit's checks say something of tables of measurements that nobody made up.

Two kinds: drawn from worlds unlike the checks' own models (costs with cache levels and kinks, links
that limit, noise with heavy tails, two modes, dips, drift and memory of the round before, rounding
to two digits or none), and cut out of a real table of cells, with columns, sizes, repetitions and
digits as an author may choose to print them.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from copycost.analysis.stats.settings import FloatArray
from copycost.compare.audit.dataset import CELL, Dataset
from copycost.compare.audit.mapping import FileMapping
from copycost.compare.audit.plausibility import Finding, Kind, Sureness, check_plausibility
from copycost.compare.audit.reader import read_dataset

NOISES = ("normal", "heavy", "modes", "dips", "drift", "memory")
_NAMES = ("two_copy", "one_copy", "zero_copy", "sendfile", "splice", "io_uring")


@dataclass(frozen=True, slots=True)
class World:
    """What an honest table is drawn from: its grid, its noise, and how it is printed."""

    sizes: tuple[int, ...]
    threads: tuple[int, ...]
    names: tuple[str, ...]
    repetitions: int
    noise: str  # one of `NOISES`
    level: float  # its width [relative]
    roughness: float  # how far a cell is, for good, from the smooth costs [relative]
    limit: float | None  # what the link carries [bit/s]
    digits: int | None  # significant digits that are printed; None for all
    duration_s: float  # of a repetition
    alike: bool  # the second implementation is the first under another name


def draw_world(rng: np.random.Generator) -> World:
    """Return a world as its authors may have had it."""
    first, factor = 2 ** int(rng.integers(6, 13)), int(rng.choice([2, 4, 4, 8]))
    sizes = [first * factor**step for step in range(int(rng.integers(3, 9)))]
    if rng.random() < 0.2:
        sizes = [int(size * rng.uniform(0.8, 1.2)) for size in sizes]
    threads = {0: (1,), 1: (1, 2, 4, 8), 2: (1, 4), 3: (1, 2, 4)}[int(rng.integers(4))]
    return World(
        sizes=tuple(size for size in sizes if size <= 1 << 26),
        threads=threads,
        names=_NAMES[: int(rng.integers(2, 5))],
        repetitions=int(rng.choice([1, 1, 3, 3, 5, 10])),
        noise=str(rng.choice(NOISES)),
        level=float(10 ** rng.uniform(-2.5, -0.9)),
        roughness=float(10 ** rng.uniform(-2.3, -0.8)),
        limit=float(rng.choice([0.94e9, 9.41e9, 23.5e9, 94e9])) if rng.random() < 0.3 else None,
        digits=[2, 3, 3, 4, 6, None][int(rng.integers(6))],
        duration_s=float(rng.choice([0.5, 1, 5, 10, 30])),
        alike=bool(rng.random() < 0.1),
    )


def honest_table(seed: int) -> pd.DataFrame:
    """Return a table as an honest author prints it, each column counted apart.

    With a row per repetition (`rep` only where there are several) and the columns that
    docs/audit.md names, of which some are left out.
    """
    rng = np.random.default_rng(seed)
    world = draw_world(rng)
    table = table_of(world, rng)
    kept = [name for name in table.columns[4:] if rng.random() < 0.75]
    table = table[["impl", "size", "threads", "rep", *(kept or ["throughput_gbps"])]]
    if world.repetitions == 1:
        table = table.drop(columns="rep")
    if rng.random() < 0.2:
        table = table.sample(frac=float(rng.uniform(0.7, 1.0)), random_state=seed)
    return table.reset_index(drop=True)


def table_of(world: World, rng: np.random.Generator) -> pd.DataFrame:
    """Return a table of a world with all columns, rounded as it prints them."""
    grid = pd.MultiIndex.from_product(
        [world.names, world.sizes, world.threads, range(1, world.repetitions + 1)],
        names=["impl", "size", "threads", "rep"],
    ).to_frame(index=False)
    table = _measured(grid, world, rng)
    if world.digits is not None:
        for name in table.columns[4:]:
            table[name] = [_rounded(value, world.digits) for value in table[name]]
    return table


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def _measured(grid: pd.DataFrame, world: World, rng: np.random.Generator) -> pd.DataFrame:
    """Return the grid with every quantity, in the units that authors use."""
    size, threads = grid["size"].to_numpy(float), grid["threads"].to_numpy(float)
    noise = _noise_of(grid, world, rng)
    time_s = _service_s(grid, world, rng)
    rate = size * 8.0 * threads / time_s * noise(1.0)
    if world.limit is not None:
        wire = world.limit * np.exp(rng.normal(0, 10 ** rng.uniform(-5, -3), len(grid)))
        rate = np.minimum(rate, wire)
    duration = world.duration_s * (1.0 + np.abs(rng.normal(0, 1e-3, len(grid))))
    moved = np.floor(rate / 8.0 * duration)
    messages = np.floor(moved / size + rng.integers(0, 9, len(grid)) * threads)
    busy = np.clip(threads * rng.uniform(1.1, 2.0) * noise(0.5), 0.05, 8.0 * threads)
    cpu_s = np.round(busy * duration, int(rng.integers(2, 6)))
    clock = rng.uniform(2e9, 5e9) * np.exp(rng.normal(0, 10 ** rng.uniform(-4, -1.5), len(grid)))
    cycles = np.floor(cpu_s * clock)
    per_call, l1_per_call, l1_per_byte = (
        grid["impl"].map({name: rng.uniform(*ends) for name in world.names}).to_numpy(float)
        for ends in ((2e3, 2e4), (5, 80), (0.01, 0.05))
    )
    instructions = (messages * per_call + moved * rng.uniform(0.15, 0.8)) * noise(0.05)
    instructions = np.minimum(instructions, cycles * rng.uniform(2.0, 5.0))  # no core does more
    l1 = moved * l1_per_byte * noise(0.3) + messages * l1_per_call * noise(0.3)
    l1 = np.minimum(l1, instructions * rng.uniform(0.1, 0.3))
    llc = l1 * rng.uniform(0.005, 0.3) * np.clip(size / 2**18, 0.02, 1.0) * noise(2.0)
    switches = rng.poisson(duration * threads * 10 ** rng.uniform(1, 4) * noise(3.0))
    return grid.assign(
        duration_s=duration,
        throughput_gbps=rate * 1e-9,
        bytes_received=moved,
        messages=messages,
        latency_us=size * 8e6 * threads / rate * noise(0.3) * rng.choice([1.0, 0.9, 1.3]),
        cycles=cycles,
        instructions=np.floor(instructions),
        L1=np.floor(l1),
        LLC=np.floor(llc),
        context_switches=switches,
        cpu_time_s=cpu_s,
    )


def _service_s(grid: pd.DataFrame, world: World, rng: np.random.Generator) -> FloatArray:
    """Return the true seconds per message of each row's cell: with cache levels and kinks."""
    size, threads = grid["size"].to_numpy(float), grid["threads"].to_numpy(float)
    contention = rng.uniform(0.0, 0.5)
    times = np.zeros(len(grid))
    for number, name in enumerate(world.names):
        if number == 0 or not (world.alike and number == 1):
            call, byte = 10 ** rng.uniform(-6, -5.2), 10 ** rng.uniform(-10.5, -9.3)
            steps = [(2**15, rng.uniform(1, 1.3)), (2**20, rng.uniform(1, 2)), (2**24, 1.5)]
        mine = (grid["impl"] == name).to_numpy()
        cost = byte * np.prod([np.where(size > at, more, 1.0) for at, more in steps], axis=0)
        scaling = 1.0 + contention * np.log2(threads)
        times[mine] = ((call + size * cost) * scaling)[mine]
    kinks = _per_cell(grid, lambda n: np.exp(rng.normal(0, world.roughness, n)))
    return times * kinks


def _per_cell(grid: pd.DataFrame, draw: Callable[[int], FloatArray]) -> FloatArray:
    numbers = grid.groupby(["impl", "size", "threads"], sort=False).ngroup().to_numpy()
    return draw(int(numbers.max()) + 1)[numbers]


def _noise_of(
    grid: pd.DataFrame, world: World, rng: np.random.Generator
) -> Callable[[float], FloatArray]:
    """Return what draws factors of noise around 1, as many as rows; its argument is their width."""
    n = len(grid)
    own = _per_cell(grid, lambda cells: np.exp(rng.normal(0, 0.5, cells)))
    rounds = grid["rep"].to_numpy()

    def draw(width: float) -> FloatArray:
        level = np.minimum(world.level * width * own, 0.4)
        plain = np.exp(level * rng.normal(size=n))
        match world.noise:
            case "heavy":
                return np.asarray(np.exp(level * np.clip(rng.standard_t(3, size=n), -8.0, 8.0)))
            case "modes":
                mode = np.where(rng.random(n) < 0.2, rng.uniform(0.3, 0.8), 1.0)
                return np.asarray(plain * mode)
            case "dips":
                return np.asarray(plain * np.where(rng.random(n) < 0.05, rng.random(n) + 0.1, 1.0))
            case "drift":
                return np.asarray(plain * (1.0 - 0.02 * (rounds - 1)))
            case "memory":
                steps = rng.normal(size=world.repetitions)
                for at in range(1, len(steps)):
                    steps[at] = 0.6 * steps[at - 1] + 0.8 * steps[at]
                return np.asarray(plain * np.exp(world.level * width * steps[rounds - 1]))
        return np.asarray(plain)

    return draw


_UNITS = {
    "throughput": ("throughput_gbps", 1e-9), "latency_p99": ("p99_us", 1e6),
    **{name: (printed, 1.0) for name, printed in {
        "duration": "duration_s", "bytes": "bytes_received", "messages": "messages",
        "cycles": "cycles", "instructions": "instructions", "l1d_misses": "L1",
        "llc_misses": "LLC", "cache_misses": "cache_misses",
        "context_switches": "context_switches", "cpu_time": "cpu_time_s"}.items()},
}  # fmt: skip


def printed_table(cells: Dataset, seed: int) -> pd.DataFrame:
    """Return a part of a real table of cells of copycost as its author may print it.

    The mean service time is left out, since it follows from the throughput by definition.
    """
    rng = np.random.default_rng(seed)
    table = cells.table[cells.table["dataset"] == rng.choice(cells.datasets)]
    sizes = np.unique(table["msg_bytes"])
    few = rng.choice(sizes, size=min(len(sizes), int(rng.integers(2, 9))), replace=False)
    table = table[table["msg_bytes"].isin(few)]
    match int(rng.integers(3)):
        case 0:
            table = table.groupby(list(CELL), as_index=False).median(numeric_only=True)
        case 1:
            table = table[table["rep"] == rng.choice(table["rep"].unique())]
    keys = {"implementation": "impl", "msg_bytes": "size", "n_threads": "threads", "rep": "rep"}
    printed = table[list(keys)].rename(columns=keys)
    if len(printed) == len(printed.drop_duplicates(["impl", "size", "threads"])):
        printed = printed.drop(columns="rep")
    digits = [2, 3, 3, 4, 6, None][int(rng.integers(6))]
    known = [name for name in _UNITS if table.get(name, pd.Series(dtype=float)).notna().any()]
    kept = [name for name in known if name == "throughput" or rng.random() < 0.75]
    for name in kept:
        column, factor = _UNITS[name]
        values = table[name] * factor
        if digits is not None:
            values = values.map(lambda value: _rounded(value, digits))
        printed[column] = values
    result: pd.DataFrame = printed.reset_index(drop=True)
    return result


@dataclass(frozen=True, slots=True)
class Found:
    """In how many tables of a kind, and in what share of them (0 to 1), something is found."""

    tables: str
    finding: str
    n: int
    share: float


def findings_of(table: pd.DataFrame) -> list[Finding]:
    """Return what the checks say of a table, which is written and read as a foreign one."""
    with tempfile.TemporaryDirectory(prefix="copycost_honest_") as folder:
        path = Path(folder, "table.csv")
        table.to_csv(path, index=False)
        return check_plausibility(read_dataset(path, FileMapping()))


def false_alarms(findings: list[Finding]) -> list[Finding]:
    """Return those that say more than that something is missing, few or worth a question."""
    harmless = (Kind.NOT_COUNTED, Kind.WEAK, Kind.INCOMPLETE)
    return [one for one in findings
            if one.sureness is not Sureness.POSSIBLE and one.kind not in harmless]  # fmt: skip


def simulate_all(n_tables: int, seed: int, cells: Path | None = None) -> Iterator[Found]:
    """Yield how often each code is found in tables that are drawn, or cut out of a real table."""
    kinds: dict[str, Callable[[int], pd.DataFrame]] = {"drawn": honest_table}
    if cells is not None:
        real = read_dataset(cells, FileMapping())
        kinds["cut out of a real table"] = lambda each: printed_table(real, each)
    for kind, draw in kinds.items():
        codes: Counter[str] = Counter()
        for each in range(seed, seed + n_tables):
            findings = findings_of(draw(each))
            codes.update({f"{one.kind}: {one.code}" for one in findings})
            if false := false_alarms(findings):
                codes["any that is a false alarm"] += 1
                codes[f"false alarm in table {each}: {', '.join(one.code for one in false)}"] += 1
        yield from (Found(kind, what, n, n / n_tables) for what, n in codes.most_common())
