"""Validate: the model against expected figures."""
