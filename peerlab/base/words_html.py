"""Words as HTML: all text is escaped, and a command that stands between backquotes is code."""

import re
from html import escape

_COMMAND = re.compile("`([^`]+)`")


def words_html(words: str) -> str:
    """Return words as HTML.

    >>> words_html("`peerlab doctor` says <why>")
    '<code>peerlab doctor</code> says &lt;why&gt;'
    """
    # Escaped first: a page must not interpret what stands between backquotes either.
    return _COMMAND.sub(r"<code>\1</code>", escape(words))
