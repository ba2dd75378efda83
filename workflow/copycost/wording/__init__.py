"""Numbers, sizes, shares and plurals in words: what every text, table and figure has in common."""
