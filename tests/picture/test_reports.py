"""Reports in notebooks: what they say is what was found, and text from outside is text."""

import re

from peerlab.features.calibrate.calibration_report import calibration_html

TOLD = {
    "cluster": "<i>mine</i>",
    "path": "peer-direct",
    "path_from": "as given",
    "verdict": "good",
    "why": [],
    "worse": [False, False],
    "constants": [
        {"key": "nic.rate", "unit": "GB/s", "before": 15.0, "value": 14.3, "low": 12.5, "high": 14.9, "identified": True, "remark": "", "at_end": False},
        {"key": "fabric.latency", "unit": "us", "before": 5.0, "value": 5.0, "low": 1.0, "high": 9.0, "identified": False, "remark": "no small sizes", "at_end": False},
    ],
    "message_bytes": [1024.0, 1048576.0],
    "measured_s": [1e-5, 1e-4],
    "simulated_before_s": [2e-5, 1.5e-4],
    "simulated_after_s": [1e-5, 1.1e-4],
    "median_error_before": 0.75,
    "median_error_after": 0.05,
    "median_error_left_out": 0.08,
}  # fmt: skip


def test_a_calibration_says_what_was_fitted_what_was_not_and_the_error_of_each_size():
    page = calibration_html(TOLD)
    assert "75.0% before, <b>5.0% after</b>" in page
    assert "<b>14.3 GB/s</b>" in page
    assert "no small sizes" in page
    assert "cannot tell" in page
    assert "+100.0%" in page
    assert "+10.0%" in page
    assert "<i>mine" not in page


def test_the_longest_bar_is_the_largest_error():
    widths = [int(px) for px in re.findall(r"style='width:(\d+)px", calibration_html(TOLD))]
    assert max(widths) == 80
    assert sorted(widths) == [0, 8, 40, 80]


def test_a_fit_that_does_not_help_says_so_and_an_interval_that_is_cut_off_is_not_shown():
    ends = [{**TOLD["constants"][0], "at_end": True}]
    bad = {
        "verdict": "bad",
        "why": ["no better than <b>before</b>"],
        "worse": [False, True],
        "constants": ends,
    }
    page = calibration_html({**TOLD, **bad})
    assert "pl-verdict pl-fail" in page
    assert "<b>Bad fit</b>" in page
    assert "No better than &lt;b&gt;before" in page
    assert page.count("<b>worse</b>") == 1
    assert "cut off" in page
    assert "12.5 to 14.9" not in page
