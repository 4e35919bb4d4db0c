"""Step: a training step played, reported and explored."""
