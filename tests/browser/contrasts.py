"""The contrast of two colours, and their mixture."""


def contrast(one, other):
    """Return the contrast of two colours, 1 to 21 (WCAG 2.1)."""
    lights = []
    for colour in (one, other):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        lights.append(0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
    return max(lights) / min(lights)


def mixed(one, other, share):
    """Return a colour of which `share` is one and the rest another."""
    parts = ((int(one[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02X}" for a, b in parts)
