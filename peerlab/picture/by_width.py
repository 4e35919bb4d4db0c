"""Drawings of one picture for several widths, of which a page shows the one that has room: words keep their size."""

from collections.abc import Mapping


def shown_from(selectors: Mapping[float, str]) -> str:
    """Return the style rules that show each drawing from the width of its container on, pixels, up to the next wider one.

    The widest comes first, and the last is for all that is narrower.

    >>> shown_from({500: ".wide", 0: ".narrow"})
    '@container (min-width:500px){.wide{display:block}}@container (max-width:499.98px){.narrow{display:block}}'
    """
    rules, below = "", ""
    for least, selector in selectors.items():
        wide = [f"(min-width:{least:g}px)"] if least else []
        between = " and ".join([*wide, *([below] if below else [])]) or "(min-width:0)"
        rules += f"@container {between}{{{selector}{{display:block}}}}"
        below = f"(max-width:{least - 0.02:g}px)"
    return rules
