"""One module for each lab with its exercises, and what their truths are computed from."""
