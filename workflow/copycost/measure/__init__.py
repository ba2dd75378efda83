"""One repetition: lock, placement, testbed, driver, observers, verdict, record; for every study.

Everything here runs in the measuring process, once per repetition: its start-up time counts, so
nothing heavy (numpy, pandas) is imported.
"""
