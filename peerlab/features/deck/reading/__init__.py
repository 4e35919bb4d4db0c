"""The outline of a deck, read from Markdown and YAML."""
