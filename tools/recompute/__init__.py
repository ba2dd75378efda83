"""An independent recomputation of a run, from its raw records up.

Shares no code with the package: records are read as JSON, and what follows is made again with
pandas and scipy alone, so that a fault of the package cannot hide in both.
"""
