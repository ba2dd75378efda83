"""The study `round_trips`: how long a request and its reply take."""
