"""Panels below the explorer: your log, your machine, race, export, measured points."""
