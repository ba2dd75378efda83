"""Our C programs as a driver: their commands, the conversation with them, and what they printed."""
