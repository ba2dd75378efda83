"""Statements over several results: two runs compared, many hosts as one."""
