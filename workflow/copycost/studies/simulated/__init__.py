"""Counts of a cache model: which level of the caches saves what, where, and why."""
