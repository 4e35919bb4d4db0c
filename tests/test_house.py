"""The picture of the house in CONTRIBUTING.md is the house: layers, features, arrows, and sizes to a thousand lines."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))
import house


def sizes(text):
    return [int(size) for size in re.findall(r"(\d+)k\b", text)]


def outline(text):
    """Return the picture without its sizes: who is there, and who imports whom."""
    return re.sub(r"[\d█ |\n]+k?", " ", text)


def test_contributing_shows_the_house_as_it_is(root):
    _, _, shown = (root / "CONTRIBUTING.md").read_text().partition(house.BEGIN)
    shown, made = (
        shown.partition(house.END)[0],
        house.part().partition(house.BEGIN)[2].partition(house.END)[0],
    )
    assert outline(shown) == outline(made), 'make docs ARGS="features"'
    assert all(abs(one - other) <= 1 for one, other in zip(sizes(shown), sizes(made), strict=True))


def test_arrows_point_down():
    order = [name for row in house.layers() for name in row]
    arrows = house.imported()
    for name in order:
        assert all(order.index(other) > order.index(name) for other in arrows[name] if other != name), name
