"""The simulation: a scenario becomes spans."""
