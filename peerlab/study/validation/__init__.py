"""Validation: what the model must agree with, and by how much it differs."""
