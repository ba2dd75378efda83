"""When things are alike; apart from what finds out, which takes long to load."""

ALIKE = 1.05
"""Things are alike where no ratio of the best to another can be above this."""
