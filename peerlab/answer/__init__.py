"""What a run says: every span, its figures, its critical path, and what they owe to assumptions."""
