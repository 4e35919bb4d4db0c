"""A step of a training: what is asked, simulated, and drawn of it."""
