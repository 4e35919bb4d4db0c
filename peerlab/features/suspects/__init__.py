"""Which node, or which pair of nodes, makes runs slow: suspects with their probabilities, and which runs to make next."""
