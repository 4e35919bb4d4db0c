"""The lab without a browser: its curves have two points each where no test looks at more."""

import pytest
from fewer_points import shorten_curves


@pytest.fixture
def whole_curves():
    """Ask for this where every point of a curve counts."""


@pytest.fixture(autouse=True)
def _short_curves(request):
    """Without an event loop a lab waits for its curves, eight to ten points of every path, at every change of a control."""
    with pytest.MonkeyPatch.context() as patch:
        if "whole_curves" not in request.fixturenames:
            shorten_curves(patch.setitem)
        yield
