"""A step of a training: what is computed, what is exchanged, and who waits for whom."""
