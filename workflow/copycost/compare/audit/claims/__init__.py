"""Claims about a dataset, in a small vocabulary, and whether its cells support them."""
