"""Runs of known truth, analysed by the code that analyses real ones.

The truths are not what the analysis assumes: costs are lines over the size, with a bend where a
cache is full, or steps at pages and segments, or those of a real run. Nor is all noise normal.

`docs/measured_costs.csv` has the costs of a default run (commit 590764d, a virtual machine with two
CPUs, Linux 6.18, 2026-11-22; three rounds over veth, five on the sink): ``ns_per_message`` is the
median over the rounds of the window over the messages of all threads, ``spread`` the standard
deviation over the rounds of the logarithm of its ratio to two_copy.
"""
