"""What the Snakefile needs inside Snakemake: targets, announcements, progress, inputs, retry."""
