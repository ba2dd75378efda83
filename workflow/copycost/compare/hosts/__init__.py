"""Many hosts: results exported, merged, and one report over all of them."""
