"""What a run says: its figures, its critical path, what they owe to assumptions, and how they are laid out over time."""
