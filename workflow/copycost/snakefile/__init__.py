"""What the Snakefile needs inside Snakemake: inputs, chapters, announcements, progress, retry.

What is taken from Snakemake's own objects lies in `internals`.
"""
