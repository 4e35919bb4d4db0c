"""Sweep: many scenarios into one table, here or on a cluster."""
