"""What is asked: a scenario, its fields, and the figures as it meets them."""
