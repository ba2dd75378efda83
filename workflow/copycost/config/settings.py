"""What of the configuration decides how one repetition is measured.

Apart from the rest, which the measuring process does not need: its start-up time counts.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal

NoDelay = Literal["kernel", "on", "off"]
Mode = Literal["stream", "request_response"]

# The word of the config for "leave it as the kernel has it", and for "copycost chooses".
KERNEL = "kernel"
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything of the configuration that changes what one repetition measures.

    The keys are those of its section `measure`. Only round trips have requests, and an interval
    between them [ns]; it is 0 for all else.
    """

    warmup_s: float
    duration_s: float
    congestion_control: str
    tcp_nodelay: NoDelay = "kernel"
    send_buffer_bytes: int | None = None
    receive_buffer_bytes: int | None = None
    sender_cpus: tuple[int, ...] | None = None
    receiver_cpus: tuple[int, ...] | None = None
    mode: Mode = "stream"
    fresh: bool = False
    interval_ns: int = 0

    def as_params(self) -> dict[str, Any]:
        """Return plain values, which Snakemake stores and compares from run to run."""
        return asdict(self)
