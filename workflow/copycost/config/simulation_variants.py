"""What is changed, one thing at a time, to see which conclusions of simulated counts it touches.

A variant is data: what of the simulated caches, of the guest's start and of the programs'
environment is not as usual.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

PLAIN = "plain"
"""Nothing is changed."""

OTHER_KERNEL = "other_kernel"


@dataclass(frozen=True, slots=True)
class Variant:
    """What one variant changes; `change` is the end of "with ...".

    The size of every cache level is multiplied by `cache_factor`; a prefetcher that is None is the
    configured one; the guest's processor has, or has not, features beyond the usual (``+erms``,
    ``-avx2``); its kernel is given further words, and the C library GLIBC_TUNABLES.
    """

    change: str
    cache_factor: float = 1.0
    prefetcher: Literal["none", "next_line"] | None = None
    cpu_features: tuple[str, ...] = ()
    kernel_arguments: tuple[str, ...] = ()
    tunables: Mapping[str, str] = field(default_factory=dict)
    other_kernel: bool = False

    @property
    def starts_otherwise(self) -> bool:
        """Whether the guest has to be booted for it."""
        return bool(self.cpu_features or self.kernel_arguments) or self.other_kernel


VARIANTS: Mapping[str, Variant] = {
    PLAIN: Variant("nothing changed"),
    "half_caches": Variant("caches of half the size", cache_factor=0.5),
    "double_caches": Variant("caches of twice the size", cache_factor=2.0),
    "next_line": Variant("the next line prefetched", prefetcher="next_line"),
    "no_zeroing": Variant(
        "new pages not zeroed (`init_on_alloc=0`)", kernel_arguments=("init_on_alloc=0",)
    ),
    "rep_movsb": Variant(
        "copies by `rep movsb`, the kernel's instead of `rep movsq` and the C library's from"
        " 2 KiB up instead of AVX2",
        cpu_features=("+erms",),
        tunables={"glibc.cpu.x86_rep_movsb_threshold": "2048"},
    ),
    "sse2": Variant(
        "the C library's copies by SSE2, 16 bytes at a time, instead of AVX2",
        tunables={"glibc.cpu.hwcaps": "-AVX2,-AVX2_Usable,-AVX_Fast_Unaligned_Load"},
    ),
    OTHER_KERNEL: Variant("another kernel", other_kernel=True),
}
"""By name."""


def start_of(variant: str) -> str:
    """Return the variant in whose guest a variant's cells run: itself where it starts otherwise."""
    return variant if VARIANTS[variant].starts_otherwise else PLAIN
