"""Whether a log of a machine is well, and which fault would look like it."""
