"""One repetition: place it, lock the host, run both sides under perf, and record what was seen.

Everything here runs in the measuring process, once per repetition: its start-up time counts, so
nothing heavy (numpy, pandas) is imported.
"""
