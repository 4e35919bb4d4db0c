"""Words that compare (*larger*, *longer*), and where they stand beside a number in a text."""

import re

_PAIRS = """
    larger smaller, longer shorter, faster slower, higher lower, more less, more fewer, wider narrower, busier idler, later sooner,
    later earlier, dearer cheaper, better worse, further nearer, farther closer
"""
COMPARING = frozenset(_PAIRS.replace(",", " ").split())
"""Words that claim a direction; *further* and its like stand on the side of what is larger."""

_COMPARING = re.compile(rf"(?<!\*)(?<!# )\b(?:{'|'.join(sorted(COMPARING))})\b", re.IGNORECASE)
"""A word in bold or italics is the name of a control, such as **More**; one that begins a heading is the kind of its section, *Further*."""

_NUMBER = re.compile(r"(?<![\w.])\d")
"""A number, and not the digit in a name such as DL1."""

_LINK = re.compile(r"\]\([^)]*\)|\[\d\d_\w+(?=\])")
_SENTENCE = re.compile(r"[^\n|]+?(?:[.!?](?=[\s)*|]|$)|(?=[\n|]|$))")


def than(larger, smaller, one, other):
    """Return the word that holds of one figure beside another: `larger` if it exceeds it, `smaller` if it is exceeded."""
    assert [larger, smaller] in [pair.split() for pair in _PAIRS.split(",")]
    assert one != other
    return larger if one > other else smaller


def comparisons(text):
    """Return the places of comparing words in sentences that have a number in them."""
    plain = _LINK.sub(lambda link: " " * len(link[0]), text)
    for sentence in _SENTENCE.finditer(plain):
        if _NUMBER.search(sentence[0]):
            yield from _COMPARING.finditer(plain, sentence.start(), sentence.end())
