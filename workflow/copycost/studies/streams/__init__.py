"""The study `streams`: the facts of the report, and the figures of all conditions."""
