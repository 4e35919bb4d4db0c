"""Cluster files of one's own: what each figure means and where to find it, a draft to fill in, and what a file lacks."""
