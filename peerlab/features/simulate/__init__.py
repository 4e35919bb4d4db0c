"""Simulate: one scenario in figures on the command line."""
