"""Why: who set a figure of a scenario, and where it comes from."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Who set this figure, and where does it come from?",
    answers="the figures of a scenario with every change and its source",
    commands={"why": "peerlab.features.why.why_command"},
    functions={"why": "peerlab.question.effective_figures"},
    shows={
        "EffectiveFigure": "peerlab.features.why.why_report:figure_html",
        "EffectiveFigures": "peerlab.features.why.why_report:figures_html",
    },
    document="docs/using.md",
)
