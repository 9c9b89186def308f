"""Many streams at once: simulation of streams with known ground truth."""
