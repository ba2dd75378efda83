"""The sentences of a report that tell numbers: a file per template whose words they are.

A file is named like its template: `analysis_pair` has the forms of
`report/_macros/analysis_pair.j2`, `limits` those of `report/limits.qmd.j2`. One that
several templates share stands in one of them.
"""

from tools.recompute.sentences import (
    analysis_along_sizes,
    analysis_explained,
    analysis_fastest,
    analysis_misses,
    analysis_pair,
    analysis_path,
    analysis_quality,
    analysis_threads,
    analysis_unexpected,
    analysis_words,
    decisions,
    every_way,
    limits,
    memory,
    method,
    placement,
    profile,
    profile_guests,
    published,
    real_zero_copy,
    results,
    round_trips,
    simulated,
    virtual,
    zero_copy,
)

__all__ = [
    "analysis_along_sizes",
    "analysis_explained",
    "analysis_fastest",
    "analysis_misses",
    "analysis_pair",
    "analysis_path",
    "analysis_quality",
    "analysis_threads",
    "analysis_unexpected",
    "analysis_words",
    "decisions",
    "every_way",
    "limits",
    "memory",
    "method",
    "placement",
    "profile",
    "profile_guests",
    "published",
    "real_zero_copy",
    "results",
    "round_trips",
    "simulated",
    "virtual",
    "zero_copy",
]
