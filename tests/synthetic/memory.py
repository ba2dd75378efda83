"""A memory floor with a known truth."""

from typing import Any


def make_memory() -> dict[str, Any]:
    """Return what the analysis reads of results/memory.json: steps where the caches end."""

    def cost(n_bytes: int) -> float:
        steps = ((32 << 10, 0.006), (1 << 20, 0.014), (32 << 20, 0.035))
        return next((ns for size, ns in steps if n_bytes <= size), 0.085)

    points = [
        {"bytes": 1 << power, "ns_per_byte": [cost(1 << power) * (1 + 0.02 * i) for i in range(5)]}
        for power in range(14, 29)
    ]
    return {"status": "measured", "reason": None, "remedy": None, "floor": {"points": points}}
