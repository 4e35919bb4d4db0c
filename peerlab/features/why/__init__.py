"""Why: who set a figure of a scenario, and where it comes from."""
