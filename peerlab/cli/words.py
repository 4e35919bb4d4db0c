"""How options are read: what is no number or size is left for the scenario to refuse in its own words."""


def number(text: str) -> int | str:
    """Return a whole number, or the text for the scenario to refuse in its own words."""
    try:
        return int(text)
    except ValueError:
        return text


def slice_size(text: str) -> str | None:
    """Return a size as text, or None for ``none``."""
    return None if text.lower() == "none" else text
