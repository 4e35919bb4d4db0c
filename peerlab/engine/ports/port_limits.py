"""How large a scene of ports may be."""

MOST_HOSTS = 64
MOST_EVENTS = 10**7
EVENTS_PER_HOP = 3
"""A cell arrives at a port, leaves it, and what it held comes back."""
