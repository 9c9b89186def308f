"""What we claim about speed and memory, runnable, with the peers beside us: `make bench`."""
