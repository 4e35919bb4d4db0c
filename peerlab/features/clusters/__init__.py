"""Clusters: a cluster file of one's own, drafted, completed and checked."""
