"""Sweeps: many scenarios, one table, by one process or by many."""
