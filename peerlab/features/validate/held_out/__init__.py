"""Machines left out of every fit: how far the model is off on them."""
