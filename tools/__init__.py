"""What only developers run: benchmark, simulation of the statistics, synthetic records, checks."""
