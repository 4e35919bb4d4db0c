"""Writes docs/features.md: what somebody can do with peerlab, from the records of the features; and the house in CONTRIBUTING.md."""

from documents import table
from house import ROOT, contributing

from peerlab.features import features

HEAD = """\
# What peerlab can do

Written by `make docs ARGS="features"` from the record of each feature, `FEATURE` in `peerlab/features/NAME/__init__.py`. All options and
public names are in [api.md](api.md).

"""


def document() -> str:
    """Return the whole text."""
    rows = []
    for name, feature in features().items():
        ways = [f"`peerlab {command}`" for command in feature.commands]
        ways += [f"`peerlab.{public}`" for public in feature.functions]
        document = feature.document.removeprefix("docs/")
        document = document if document != feature.document else f"../{document}"
        rows.append(
            (f"`{name}`", feature.asks, feature.answers, ", ".join(ways), f"[{feature.document}]({document})")
        )
    return HEAD + table(("feature", "what it asks", "what it answers", "how", "more"), rows)


def parts() -> dict[str, str]:
    """Return the files outside this folder of which a part is written, by their name from the top."""
    file = ROOT / "CONTRIBUTING.md"
    return {file.name: contributing(file.read_text(encoding="utf-8"))}
