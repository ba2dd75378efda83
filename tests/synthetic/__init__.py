"""Runs with a known truth, for tests of what is computed and written from their tables.

Not measurements, and never shown as such: every number comes from a small model and a seed.
"""

from synthetic.cells import make_cells
from synthetic.run import IMPLEMENTATIONS, Run, Truth, Udp
from synthetic.surroundings import make_config, make_host

__all__ = ["IMPLEMENTATIONS", "Run", "Truth", "Udp", "make_cells", "make_config", "make_host"]
