"""The simulation: a scenario becomes spans."""

# From the bottom: what all engines read (`system`, `legs`, `pipeline`, `slice_dependencies`, `registration_queue`, `jitter`, `max_min`,
# `opening`, `scaleup`), then `referee`, `loop`, `arrays` and `compiled`, then `simulate`, which chooses one.
