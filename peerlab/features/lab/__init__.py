"""Opens JupyterLab on the labs, for one user on one machine, with nothing that asks the internet."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="How do I open the labs?",
    answers="JupyterLab on the user's own copies",
    commands={"lab": "peerlab.features.lab.lab_command"},
    document="docs/launch.md",
)
