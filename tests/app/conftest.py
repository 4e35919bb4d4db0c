"""The lab without a browser draws its curves with two points each: the smallest and one more."""

import pytest

from peerlab.view.curve_scenarios import AXES


@pytest.fixture
def whole_curves():
    """Ask for this where every point of a curve counts."""


@pytest.fixture(autouse=True)
def _short_curves(request):
    """Without an event loop a lab waits for its curves, eight to ten points of every path at every change of a control."""
    with pytest.MonkeyPatch.context() as patch:
        if "whole_curves" not in request.fixturenames:
            for axis, values in AXES.items():
                patch.setitem(AXES, axis, values[:3:2])
        yield
