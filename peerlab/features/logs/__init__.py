"""Logs: reads other tools' logs and keeps them as records."""
