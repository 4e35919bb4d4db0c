"""Many scenarios at once: what the model must agree with."""
