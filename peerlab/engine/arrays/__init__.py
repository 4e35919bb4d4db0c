"""The array engine: a ring, all nodes at once."""
