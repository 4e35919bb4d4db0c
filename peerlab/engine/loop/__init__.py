"""The fast engine: an event loop over integer times."""
