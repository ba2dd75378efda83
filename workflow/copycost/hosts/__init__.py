"""Where a program runs and what that place is: starting programs, files, clocks, CPUs, the lock."""
