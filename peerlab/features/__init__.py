"""Features: one folder each, with everything that it alone needs. None imports another."""
