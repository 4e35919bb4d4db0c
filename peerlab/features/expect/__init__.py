"""What a machine should reach, and whether a log of it is well: `expect`."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="What should this machine reach, and does my log?",
    answers="`Expectation`: floor, band and ceiling at each size",
    commands={"expect": "peerlab.features.expect.expect_command"},
    functions={"expect": "peerlab.features.expect.expecting"},
    shows={
        "Expectation": "peerlab.features.expect.expect_report:expected_html",
        "LogVerdicts": "peerlab.features.expect.expect_report:judged_runs_html",
        "LogVerdict": "peerlab.features.expect.expect_report:judged_html",
    },
    offers={
        "what a scenario should reach": "peerlab.features.expect.expectation:expectation",
        "verdicts on a log": "peerlab.features.expect.verdicts.judging:judge",
        "HTML of verdicts": "peerlab.features.expect.expect_report:verdict_in_page",
    },
    document="docs/using.md",
)
