"""Reports in notebooks: what they say is what was found, and text from outside is text."""

import re
from dataclasses import replace

import numpy as np
import pytest

from peerlab import load_cluster
from peerlab.features.calibrate.calibration import Calibration
from peerlab.features.calibrate.calibration_report import calibration_html
from peerlab.features.calibrate.constants import Constant

RATE = Constant(
    key="nic.rate",
    unit="GB/s",
    before=15.0,
    value=14.3,
    low=12.5,
    high=14.9,
    bounds=(12.0, 16.0),
    identified=True,
)
LATENCY = Constant(
    key="fabric.latency", unit="us", before=5.0, value=5.0, low=1.0, high=9.0, bounds=(1.0, 9.0), identified=False,
    remark="no <b>small</b> sizes",
)  # fmt: skip


@pytest.fixture(scope="module")
def calibration():
    return Calibration(
        cluster=replace(load_cluster("juliet"), title="<i>mine</i>"),
        path="peer-direct",
        path_from="as given",
        constants=(RATE, LATENCY),
        sizes=np.array([1024.0, 1048576.0]),
        measured_s=np.array([1e-5, 1e-4]),
        before_s=np.array([2e-5, 1.5e-4]),
        after_s=np.array([1e-5, 1.1e-4]),
        left_out=np.array([0.07, -0.09]),
        seen=None,
    )


def test_a_calibration_says_what_was_fitted_what_was_not_and_the_error_of_each_size(calibration):
    page = calibration_html(calibration)
    assert "75.0 % before, 5.0 % after" in page
    assert "<b>14.3 GB/s</b>" in page
    assert "no &lt;b&gt;small&lt;/b&gt; sizes" in page
    assert "cannot tell" in page
    assert "+100.0 %" in page
    assert "+10.0 %" in page
    assert "<i>mine" not in page


def test_the_longest_bar_is_the_largest_error(calibration):
    widths = [int(px) for px in re.findall(r"style='width:(\d+)px", calibration_html(calibration))]
    assert sorted(widths) == [1, 8, 40, 80]  # errors of 0, 10, 50 and 100 %; none is left out


def test_a_fit_that_does_not_help_says_so_and_an_interval_that_is_cut_off_is_not_shown(calibration):
    bad = replace(
        calibration,
        constants=(replace(RATE, at_end=True),),
        after_s=np.array([3e-5, 2.5e-4]),
    )
    page = calibration_html(bad)
    assert "pl-verdict pl-fail" in page
    assert "<b>Bad fit</b>" in page
    assert page.count("<b>worse</b>") == 2
    assert "cut off" in page
    assert "12.5 to 14.9" not in page
