"""The name of `peerlab.engine.arrays.side_by_side` until 0.1.0; it goes with 0.3."""

import warnings

from peerlab.engine.arrays.side_by_side import times

__all__ = ["times"]

warnings.warn("peerlab.engine.batch is peerlab.engine.arrays.side_by_side now", FutureWarning, stacklevel=2)
