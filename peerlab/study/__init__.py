"""Answers that take more than one simulation: bands, a race, one question on all fabrics, the trial that would decide."""
