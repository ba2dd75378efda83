"""Measure one repetition by hand: ``python -m copycost.measure one_copy --msg-bytes 64KiB``.

For looking closely at one cell, outside of a workflow; the record goes to stdout, or to a file.
"""

import argparse
import json
import logging
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from copycost.config.cells import Cell
from copycost.config.conditions import COLD, HOT, RECV
from copycost.config.settings import Settings
from copycost.config.strategy_capabilities import RECEIVERS
from copycost.config.testbeds import APART, PLACEMENTS, TESTBEDS, away_on, guests_on, receives_on
from copycost.errors import ConfigError, CopycostError
from copycost.hosts.lock import host_lock_path
from copycost.measure.drivers.choice import driver_of
from copycost.measure.drivers.programs.driver import DEFAULT_IO_TIMEOUT_S
from copycost.measure.repetition import Task, measure_repetition
from copycost.records.column import KEY
from copycost.records.files import read_json
from copycost.records.record import write_record
from copycost.wording.numbers import size_option

_STUDIES = ("streams", "round_trips")
_EXIT_CODES = {"measured": 0, "failed": 1, "skipped": 77}


def _cpus(text: str) -> tuple[int, ...] | None:
    return None if text == "auto" else tuple(int(cpu) for cpu in text.split(","))


def _at_least(least: float, parse: Callable[[str], float]) -> Callable[[str], float]:
    def number(text: str) -> float:
        value = parse(text)
        if not least <= value < math.inf:
            raise argparse.ArgumentTypeError(f"got {text}, must be a number, {least:g} or more")
        return value

    return number


_count = _at_least(1, int)
_size = _at_least(1, size_option)
_some_time = _at_least(0.001, float)


def _working_set(text: str) -> str:
    return text if text in (HOT, COLD) else str(_size(text))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m copycost.measure",
        description="Measure one repetition and print its record.",
        epilog="Exit status: 0 measured, 1 failed, 2 bad usage, 77 not available on this host.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("implementation", help="strategy, with _xN for N messages per call: BIN/sender_STRATEGY")
    add("--study", choices=_STUDIES, default="streams", help="what is measured")
    add("--testbed", choices=TESTBEDS, default="veth", help="where the bytes travel")
    add("--msg-bytes", type=_size, default="64KiB", metavar="SIZE", help="message size")
    add("--threads", dest="n_threads", type=_count, default=1, metavar="N", help="connections")
    add("--working-set", type=_working_set, default=HOT, metavar="SIZE", help="hot, cold or size")
    add("--receiver", choices=RECEIVERS, default=RECV, help="how the other side receives")
    add("--placement", choices=PLACEMENTS, default=APART, help="where both ends run")
    add("--reference", metavar="NAME", help="implementation to measure in turns with it")
    add("--fresh", action="store_true", help="rewrite each message before it is sent")
    interval = _at_least(0, int)
    add("--interval", type=interval, default=0, metavar="US", help="from request to request [us]")
    add("--rep", type=_count, default=1, metavar="N", help="number of the repetition")
    warmup = _at_least(0, float)
    add("--warmup", type=warmup, default=0.2, metavar="S", help="traffic before the window [s]")
    add("--duration", type=_some_time, default=1.0, metavar="S", help="window [s]")
    add("--congestion", default="cubic", metavar="NAME", help="TCP congestion control")
    add("--sender-cpus", type=_cpus, default="auto", metavar="LIST", help="CPU numbers or auto")
    add("--receiver-cpus", type=_cpus, default="auto", metavar="LIST", help="CPU numbers or auto")
    add("--host", type=Path, default="results/host.json", metavar="FILE", help="host facts")
    add("--guest", type=Path, default="results/guest.json", metavar="FILE", help="guest facts")
    add("--peer", type=Path, metavar="FILE", help="peer facts, one of results/peers")
    add("--bin", type=Path, default="results/bin", metavar="DIR", help="folder of the programs")
    add("--record", type=Path, metavar="FILE", help="write the record there, not to stdout")
    add("--lock", type=Path, default=host_lock_path(), metavar="FILE", help="host-wide lock")
    wait_s = DEFAULT_IO_TIMEOUT_S
    add("--io-timeout", type=_some_time, default=wait_s, metavar="S", help="longest wait")
    return parser


def _task(options: argparse.Namespace) -> Task:
    cell = Cell(**{name: getattr(options, name) for name in KEY})
    asks = cell.study == "round_trips"
    settings = Settings(
        warmup_s=options.warmup,
        duration_s=options.duration,
        congestion_control=options.congestion,
        sender_cpus=options.sender_cpus,
        receiver_cpus=options.receiver_cpus,
        fresh=options.fresh,
        mode="request_response" if asks else "stream",
        interval_ns=options.interval * 1000 if asks else 0,
    )
    beside: str | None = options.reference
    driver = driver_of(
        cell.implementation,
        options.bin / f"sender_{cell.strategy}",
        options.bin / f"receiver_{cell.receiver}" if receives_on(cell.testbed) else None,
        options.io_timeout,
        (beside, options.bin / f"sender_{beside}") if beside else None,
    )
    peer: dict[str, Any] | None = None
    if away_on(cell.testbed):
        path = options.guest if guests_on(cell.testbed) else options.peer
        if path is None:
            raise ConfigError(f"--testbed {cell.testbed}: --peer must name one of results/peers")
        peer = read_json(path)
    facts = read_json(options.host)
    return Task(cell, settings, facts, driver, lock_path=options.lock, peer=peer)


def main(arguments: list[str] | None = None) -> int:
    """Measure what the command line says and return the exit status."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(relativeCreated)6d ms  %(message)s")
    try:
        record = measure_repetition(_task(options))
        if options.record is None:
            print(json.dumps(record, indent=1))
        else:
            write_record(record, options.record)
    except (CopycostError, OSError) as error:
        print(f"copycost: {error}", file=sys.stderr)
        return 1
    return _EXIT_CODES[record["status"]]


if __name__ == "__main__":
    sys.exit(main())
