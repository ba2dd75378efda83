"""Every branch of the analysis' macros, each with as few facts as it takes.

By the template's name, ``report/_macros/analysis_NAME.j2``: macro, branch, and what the macro
gets.
"""

from golden.analysis_cases import (
    along_sizes,
    explained,
    fastest,
    misses,
    others,
    pair,
    path,
    quality,
    real,
    threads,
    unexpected,
    words,
)
from golden.analysis_facts import Case

CASES: dict[str, list[Case]] = {
    "along_sizes": along_sizes.CASES,
    "explained": explained.CASES,
    "fastest": fastest.CASES,
    "misses": misses.CASES,
    "others": others.CASES,
    "pair": pair.CASES,
    "path": path.CASES,
    "quality": quality.CASES,
    "real": real.CASES,
    "threads": threads.CASES,
    "unexpected": unexpected.CASES,
    "words": words.CASES,
}
