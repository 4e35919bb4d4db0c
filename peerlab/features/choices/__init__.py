"""Choices: which algorithm and protocol a library takes, by size and nodes, and where another would be faster."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Which algorithm and protocol does NCCL take here, and where would another be faster?",
    answers="`ChoiceMap`: one choice for each size and number of nodes",
    commands={"choices": "peerlab.features.choices.choices_command"},
    functions={"choices": "peerlab.features.choices.mapping"},
    shows={"ChoiceMap": "peerlab.features.choices.choice_report:choices_html"},
    offers={"map of choices": "peerlab.features.choices.mapping:choices"},
    document="docs/using.md",
)
