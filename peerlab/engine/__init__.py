"""From a scenario to its trace. Two engines: `events` (SimPy, the referee) and `loop` (fast; equal or it refuses)."""
