"""Words as HTML: all text is escaped, and a command that stands between backquotes is code."""

import re
from html import escape

_IN_VALUE = re.compile(
    r"(?<=\d) (?=(?:[KMGT]i?)?B\b|[mµn]?s\b|G[Bb]/s|%)|(?<= to) (?=\d)| (?=to \d)|(?<= from) (?=\d)|(?<=[Nn]ode) (?=\d)"
)
_COMMAND = re.compile("`([^`]+)`")


def words_html(words: str) -> str:
    """Return words as HTML.

    >>> words_html("`peerlab doctor` says <why>")
    '<code>peerlab doctor</code> says &lt;why&gt;'
    """
    # Escaped first: a page must not interpret what stands between backquotes either.
    return _COMMAND.sub(r"<code>\1</code>", escape(words))


def unbroken(words: str) -> str:
    r"""Return words of which no line ends within a value, a range of values, or between a node and its number.

    >>> unbroken("10 % from 2 MiB to 16 MiB on node 3").split(" ")
    ['10\xa0%', 'from\xa02\xa0MiB\xa0to\xa016\xa0MiB', 'on', 'node\xa03']
    """
    return _IN_VALUE.sub("\u00a0", words)
