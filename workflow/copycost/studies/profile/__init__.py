"""Where the CPU time goes: call stacks sampled while a cell is measured, and what they add up to.

From `perf record` on both sides (`sampler`) through `perf script` (`perf_script`) to folded stacks
(`folded`), which are kept, and from these to shares by function, call path, category and stage.
What runs in the measuring process imports neither numpy nor pandas.
"""
