"""What tests do with a page that plays: set its clock, give its window another size."""


def seek(page, us):
    """Stand at a moment, microseconds."""
    page.evaluate("us => [...peerlabPages][0].player.seek(us)", us)


def seek_ps(page, ps):
    """Stand at a moment of a trace, picoseconds."""
    seek(page, ps / 1e6)


def seek_share(page, part):
    """Pause at a part of the run, on every side of a page."""
    page.evaluate(
        "part => peerlabPages.forEach(({ player }) => { player.wanted = false; player.seek(part * player.length) })",
        part,
    )


def resize(page, width, height):
    """Give the window a size and wait until the page has heard of it, which is before the next frame."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(
        """async ([wide, high]) => { for (let later = 2; later; later -= innerWidth === wide && innerHeight === high)
             await new Promise(requestAnimationFrame); }""",
        [width, height],
    )
