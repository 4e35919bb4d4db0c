"""Race: two runs that begin at one moment, played on one clock."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Which of two runs is through first, and by how much?",
    answers="`Race`: bytes delivered on one clock",
    functions={"race": "peerlab.study.racing"},
    shows={"Race": "peerlab.features.race.race_page:race_frame"},
    offers={"page of a race": "peerlab.features.race.race_page:race_html"},
    document="docs/using.md",
)
