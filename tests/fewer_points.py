"""Curves, pages and charts with fewer points: most tests ask whether they are there, and each point is a simulation.

Those that look at every point take what a user gets (`whole_curves` in `tests/app/conftest.py`).
"""

from contextlib import contextmanager
from importlib import import_module
from operator import setitem
from pathlib import Path

SERIES = {
    "peerlab.features.export.choices": {"_NODES": (2, 4)},
    "peerlab.features.deck.kinds.charting": {"NODES": (2, 4)},
    "peerlab.features.deck.kinds.tail_slide": {"SEEDS": 20},
    "peerlab.features.deck.kinds.evidence_slides": {"_NODES": (2, 4), "_SIZES": (64 * 2**10, 2**26)},
}
"""Module to its series and what stands for each."""

SHORTER = {"gradient_bytes: 7 GB": "gradient_bytes: 70 MB"}
"""What takes long in a lab, and what stands for it."""


def shorten_lab(text):
    """Return a notebook's text with less to simulate."""
    for long, short in SHORTER.items():
        text = text.replace(long, short)
    return text


def shorten_curves(set_item=setitem):
    """Leave every curve its first and its third point; `set_item` changes a mapping, such as `MonkeyPatch.setitem`."""
    axes = import_module("peerlab.picture.curve_scenarios").AXES
    for axis, values in tuple(axes.items()):
        set_item(axes, axis, values[:3:2])


STARTUP = f"""
def shorten():
    import sys
    sys.path.append({str(Path(__file__).parent)!r})
    from fewer_points import shorten_curves
    shorten_curves()
shorten()
del shorten
"""
"""What a kernel does first."""


def shorten_in_kernels(ipython):
    """Have every kernel whose ``IPYTHONDIR`` is this folder, which is to be made, shorten curves before its first cell."""
    startup = ipython / "profile_default" / "startup"
    startup.mkdir(parents=True)
    # not this module's name: Python looks for modules beside the file first
    (startup / "shorten.py").write_text(STARTUP, encoding="utf-8")


def shorten_series(set_attribute=setattr):
    """Shorten what pages offer and what slides chart; `set_attribute` may be `MonkeyPatch.setattr`."""
    for module, series in SERIES.items():
        for name, values in series.items():
            set_attribute(import_module(module), name, values)


@contextmanager
def fewer_points():
    """Shorten all of them for a while."""
    import pytest

    with pytest.MonkeyPatch.context() as patch:
        shorten_curves(patch.setitem)
        shorten_series(patch.setattr)
        yield
