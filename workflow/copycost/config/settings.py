"""What of the configuration decides how one repetition is measured.

Apart from the rest, which the measuring process does not need: its start-up time counts.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

NoDelay = Literal["kernel", "on", "off"]
Mode = Literal["stream", "request_response"]

# The word of the config for "leave it as the kernel has it", and for "copycost chooses".
KERNEL = "kernel"
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything of the configuration that changes what one repetition measures.

    Attributes
    ----------
    warmup_s, duration_s
        Traffic before the window, and the window itself [s].
    congestion_control
        TCP congestion control wished for.
    tcp_nodelay
        What is done with TCP_NODELAY.
    send_buffer_bytes, receive_buffer_bytes
        Socket buffers asked for [bytes]; None leaves them to the kernel.
    sender_cpus, receiver_cpus
        CPU numbers of each side, from which the cell's placement chooses; None offers all.
    mode
        Whether messages follow each other, or each waits for a reply of the same size.
    fresh
        Whether each message is rewritten before it is sent.
    interval_ns
        From one request to the next [ns]; 0 sends each when the reply before it has come. Only
        round trips have requests, so it is 0 for all else.
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

    def plain(self, warmup_s: float, duration_s: float) -> "Settings":
        """Return these with another window and plain sockets.

        The CPUs stay, and the congestion control, which decides every TCP figure.
        """
        return Settings(
            warmup_s,
            duration_s,
            self.congestion_control,
            sender_cpus=self.sender_cpus,
            receiver_cpus=self.receiver_cpus,
        )

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """Return the settings that `as_params` gave."""
        return cls(**params)
