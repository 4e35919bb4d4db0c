"""Runs the command line, as `python -m peerlab.cli`."""

import sys

from peerlab.cli import main

sys.exit(main())
