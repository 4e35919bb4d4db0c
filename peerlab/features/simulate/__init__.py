"""Simulate: one scenario in figures, on the command line and in a notebook."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Where do the bytes of this collective go, and how long does it take?",
    answers="`Run`: time, busbw, what limits, and every span",
    commands={"simulate": "peerlab.features.simulate.simulate_command"},
    functions={"explain": "peerlab.features.simulate.explain"},
    shows={
        "ExplainedRun": "peerlab.features.simulate.explained_report:explained_html",
        "Run": "peerlab.features.simulate.run_report:run_html",
        "GainBand": "peerlab.features.simulate.gain_report:gain_html",
    },
    document="README.md",
)
