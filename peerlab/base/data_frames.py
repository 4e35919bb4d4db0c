"""Tables of pandas: the package where it is installed, else a name for it that says so when it is called.

Modules that run in a browser tab, too, take `pd` from here, all others import pandas.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
else:
    try:
        import pandas as pd
    except ImportError:
        from peerlab.base.absent import Absent

        pd = Absent("pandas")

__all__ = ["pd"]
