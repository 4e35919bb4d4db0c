"""Arrays of numbers: numpy where it is installed, else its operations on Python's lists (`peerlab.base.whole_numbers`).

Modules that run in a browser tab take `np` and `NDArray` from here, all others import numpy. The two give the same bytes.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    try:
        import numpy as np
        from numpy.typing import NDArray
    except ImportError:
        from peerlab.base import whole_numbers as np

        NDArray = np.ndarray

__all__ = ["NDArray", "np"]
