"""What the sections of driven studies have in common: their cells, settings, grid and order."""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

from copycost.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenCell:
    """One repetition of one point of a study's grid.

    Attributes
    ----------
    study
        Name of the study.
    pattern
        The path of a record below the study's folder, without its ending: Hive-style, a folder
        for each part of the cell.
    testbed, driver
        Names; the driver is ``iperf3``, or a strategy: our own sender.
    n_streams
        Parallel connections, or sockets that send [count].
    rep
        Number of the repetition, from 1.
    """

    study: ClassVar[str]
    pattern: ClassVar[str]

    testbed: str
    driver: str
    n_streams: int
    rep: int

    @classmethod
    def pattern_of_record(cls) -> str:
        """Return the path of a record, with a wildcard for each part of the cell."""
        return f"results/raw/{cls.study}/{cls.pattern}.json"

    @property
    def path(self) -> str:
        """Path of the record."""
        return self.pattern_of_record().format(**asdict(self))

    @classmethod
    def from_path(cls, path: str) -> Self:
        """Return the cell whose record has this path (what comes before the cell is ignored).

        Raises
        ------
        DataError
            If the path is not of that form.
        """
        kinds = {field.name: field.type for field in fields(cls)}
        forms = {name: r"\d+" if kind is int else r"\w+" for name, kind in kinds.items()}
        named = {name: f"(?P<{name}>{form})" for name, form in forms.items()}
        found = re.search(cls.pattern.format(**named) + r"\.json$", path)
        if found is None:
            raise DataError(
                f"{path}: is no path of a record of {cls.study}, expected {cls.pattern}.json"
            )
        words = found.groupdict()
        values: dict[str, Any] = {
            name: int(word) if kinds[name] is int else word for name, word in words.items()
        }
        return cls(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenSettings:
    """What decides how a repetition is measured, whichever the study.

    Attributes
    ----------
    warmup_s, duration_s
        Traffic before the window, and the window [s].
    sender_cpus, receiver_cpus
        CPU numbers to pin to in turn; None lets copycost choose.
    """

    warmup_s: float
    duration_s: float
    sender_cpus: tuple[int, ...] | None
    receiver_cpus: tuple[int, ...] | None

    def as_params(self) -> dict[str, Any]:
        """Return plain values, which Snakemake stores and compares from run to run."""
        return asdict(self)

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """Return the settings that `as_params` gave."""
        return cls(**params)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenSection(ABC):
    """What the section of every driven study states.

    Attributes
    ----------
    enabled
        Whether it is measured by the default target.
    drivers
        ``iperf3``, or names of strategies: our own sender.
    testbeds
        Names.
    n_streams
        Parallel connections, or sockets that send [count].
    repetitions
        Of each point [count].
    warmup_s, duration_s
        Traffic before the window, and the window [s].
    """

    enabled: bool
    drivers: tuple[str, ...]
    testbeds: tuple[str, ...]
    n_streams: tuple[int, ...]
    repetitions: int
    warmup_s: float
    duration_s: float

    @staticmethod
    def shared_values(section: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a checked section states of the attributes that all studies have."""
        return {
            "enabled": bool(section["enabled"]),
            "drivers": tuple(section["drivers"]),
            "testbeds": tuple(section["testbeds"]),
            "n_streams": tuple(int(count) for count in section["n_streams"]),
            "repetitions": int(section["repetitions"]),
            "warmup_s": float(section["warmup_s"]),
            "duration_s": float(section["duration_s"]),
        }

    @abstractmethod
    def cells(self) -> Sequence[DrivenCell]:
        """Return every repetition, round by round."""

    def paths(self) -> list[str]:
        """Return the paths of all records."""
        return [cell.path for cell in self.cells()]


def priority_of(words: Mapping[str, Any], seed: int) -> int:
    """Return the place of a repetition in the order: round by round, shuffled within each.

    Parameters
    ----------
    words : mapping
        The wildcards of the rule, `rep` among them.
    seed : int
        Of the shuffle.
    """
    text = ",".join(f"{key}={value}" for key, value in sorted(words.items()))
    shuffled = int.from_bytes(hashlib.sha256(f"{seed}:{text}".encode()).digest()[:3])
    return -int(words["rep"]) * (1 << 24) + shuffled
