"""perf's events, command line, control pipe and output formats."""
