"""The exercises of the labs: questions whose truths are computed, replies to answers, and how far a learner is."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Have I understood what I saw?",
    answers="a reply to an answer, hints, and how far I am",
    functions={
        "exercise": "peerlab.features.exercises.exercise_widget",
        "predict": "peerlab.features.exercises.predict",
        "steps": "peerlab.features.exercises.lessons.steps",
    },
    shows={
        "Steps": "peerlab.features.exercises.lessons.steps:walked_html",
        "LabLog": "peerlab.features.exercises.lessons.lesson_style:lab_log_html",
        "Folded": "peerlab.features.exercises.lessons.lesson_style:folded_table_html",
        "QuotedGain": "peerlab.features.exercises.lessons.lesson_style:quoted_html",
        "SearchGame": "peerlab.features.exercises.lessons.lesson_style:game_html",
        "TrainingSums": "peerlab.features.exercises.lessons.lesson_style:sums_html",
    },
    offers={
        "articles of the labs": "peerlab.features.exercises.lessons.lab_article:lab_articles",
        "answer to an exercise": "peerlab.features.exercises.lessons.cards:judged",
        "drawn exercise": "peerlab.features.exercises.lessons.cards:drawn_card",
    },
    document="docs/workshop.md",
)
