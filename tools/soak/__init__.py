"""Runs under seeded trouble, each of which has to end with its report: ``python -m tools.soak``."""
