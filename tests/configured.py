"""Configurations for tests: that of this checkout, with some of its sections said otherwise."""

from collections.abc import Mapping
from typing import Any

from copycost.config.config import Config
from copycost.config.sources import usual_tree

NOTHING: dict[str, Any] = {"implementations": []}
"""Of a grid: no cells."""


def configured(**sections: Mapping[str, Any]) -> Config:
    """Return the configuration with these values in the sections; whether they fit is not asked."""
    tree = usual_tree()
    for name, values in sections.items():
        tree[name] |= values
    return Config.from_dict(tree)
