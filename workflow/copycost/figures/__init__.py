"""Figures: one module per figure, each turning the tables into a drawing and the data behind it.

This package imports nothing by itself: the workflow asks `names` for file names at every start,
and must not pay for matplotlib then.
"""
