"""Intervals, verdicts and crossovers. Arrays in, numbers out; nothing here knows what was measured.

The replicate is the repetition: a process run of its own, never a sample within one.
"""
