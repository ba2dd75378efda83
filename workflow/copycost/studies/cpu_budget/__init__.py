"""What bitrate a CPU budget buys: the sender's CPU is limited in steps, and each one measured."""
