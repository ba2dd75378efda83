"""From the cells table to answers: summary, comparisons, evidence, expectations, facts.

Nothing here formats a number or writes prose; templates do, from `facts.json`.
"""
