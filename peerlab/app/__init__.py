"""The explorer: the live lab in a notebook, made of the features."""
