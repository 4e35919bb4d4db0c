"""Whether this machine has a GPU to measure on: some tests need one, others need that there is none."""

from functools import cache

from peerlab.base.errors import PeerlabError
from peerlab.features.measure.cuda.gpus import gpus_here


@cache
def why_no_gpu():
    """Return why there is none, in the words that a user reads; empty if there is one. Each process of the tests asks while it collects them."""
    try:
        gpus_here()
    except PeerlabError as problem:
        return str(problem)
    return ""
