"""How a result finds the picture that a notebook shows of it: by the name of its type, in the records of features.

A picture knows the result that it draws; a result knows no picture. So a type of result has ``_repr_html_ = shown``, and the record
of a feature says what that is (`Feature.shows`). The picture is loaded when a notebook asks for it. Elsewhere a result is its
`repr`, one line of text.
"""

from pathlib import Path
from typing import Any

from peerlab.base.feature import registered


def shown(result: Any) -> str:
    """Return a result as HTML.

    >>> import peerlab
    >>> shown(peerlab.steps("ring", 3)).count("<table")
    1
    """
    # by the type's name: importing the type would lead back from the features to what lies below them
    html: str = registered("shows", type(result).__name__)(result)
    return html


def write_trace(result: Any, path: str | Path) -> None:
    """Write every span of a result as a Chrome trace."""
    registered("traces", type(result).__name__)(result, path)
