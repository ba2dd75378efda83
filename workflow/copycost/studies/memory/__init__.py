"""What a plain copy of memory costs on this host: the floor under every way to send by copying."""

from copycost.studies.memory.floor import measure_memory
from copycost.studies.memory.record import MemoryRecord, read_memory, write_memory

__all__ = ["MemoryRecord", "measure_memory", "read_memory", "write_memory"]
