"""Which peerlab this is; a file of its own, so that every layer can say it."""

__version__ = "0.2.0.dev0"
"""As in pyproject.toml; a test says whether they agree."""
