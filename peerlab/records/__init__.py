"""Measurements: of this machine, and from other people's logs. One schema for all."""

from peerlab.records.load import load
from peerlab.records.schema import COLUMNS, Records

__all__ = ["COLUMNS", "Records", "load"]
