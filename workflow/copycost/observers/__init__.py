"""Who watches a window: counters of perf and kernel, samplers, limits of CPU, lost datagrams."""
