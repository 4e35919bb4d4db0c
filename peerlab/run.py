"""The name of `peerlab.analysis.run` until 0.1.0; it goes with 0.3."""

import warnings

from peerlab.analysis.run import IterationResult, Run

__all__ = ["IterationResult", "Run"]

warnings.warn("peerlab.run is peerlab.analysis.run now", FutureWarning, stacklevel=2)
