"""The clock of a page that plays, set by a test."""


def seek(page, us):
    """Stand at a moment, microseconds."""
    page.evaluate("us => [...peerlabPages][0].player.seek(us)", us)


def seek_ps(page, ps):
    """Stand at a moment of a trace, picoseconds."""
    seek(page, ps / 1e6)
