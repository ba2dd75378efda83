"""Where the CPU time goes: call stacks sampled while a cell is measured, and what they add up to.

What runs in the measuring process imports neither numpy nor pandas.
"""
