"""An independent recomputation of a run, from its raw records up, and what follows made again.

`tables` shares no code with the package: records are read as JSON, and the tables of repetitions,
medians and intervals, comparisons, shares of functions, and who is fastest and cheapest are made
again with pandas and scipy alone, from what the documentation says, so that a fault of the package
cannot hide in both. `rebuild` makes everything that follows from the records again in a copy of the
checkout, by the package: what stands and does not follow, such as an old or an edited number in a
text, is named with its place.
"""
