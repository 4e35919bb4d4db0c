"""What a communication library does: what it chooses, what it costs, in laws and files."""
