"""``python -m peerlab`` is the command `peerlab`."""

import sys

from peerlab.cli import main

if __name__ == "__main__":
    sys.exit(main())
