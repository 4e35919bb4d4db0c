"""Fabrics: one question on all transports of a cluster."""
