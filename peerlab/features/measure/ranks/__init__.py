"""The processes of a measurement: ranks, their memory, and how they end."""
