"""Cells, conditions, and what each way to send and to receive can do."""
