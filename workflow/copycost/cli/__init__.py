"""What `./run` needs before and around a run: what was asked for, and how programs are started."""
