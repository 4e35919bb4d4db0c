"""Step: a training step played, reported and explored."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="What does an exchange cost in a step of my training?",
    answers="`StepRun`: the step, and how long devices wait",
    commands={"step": "peerlab.features.step.step_command"},
    functions={"step": "peerlab.training.answer_step", "explore_step": "peerlab.features.step.step_explorer"},
    shows={
        "StepRun": "peerlab.features.step.step_page:played_html",
        "ProfiledTraining": "peerlab.features.step.step_report:profiled_html",
    },
    traces={"StepRun": "peerlab.features.export.perfetto:write_step"},
    offers={"page of a step": "peerlab.features.step.step_page:step_page_html"},
    document="docs/using.md",
)
