"""Two runs, or several of either side, compared: before and after, kernels, machines, releases."""
