"""What a keeper and its clients say to each other: JSON objects, each in one packet."""

from typing import Any

Words = dict[str, Any]

MOST_BYTES = 1 << 16
MOST_FDS = 8
