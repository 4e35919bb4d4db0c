"""The memory of a measurement's ranks: where it is, and how much of it may be locked."""
