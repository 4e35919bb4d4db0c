"""Diagnose: which data path a log took, as text and in a notebook."""
