"""Guests whose caches are simulated: booted and saved once, then a copy of it for each cell."""
