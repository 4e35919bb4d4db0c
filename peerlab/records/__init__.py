"""Measurements: of this machine, and from other people's logs. One schema for all."""

from peerlab.records.columns import COLUMNS
from peerlab.records.library import measured_for, measured_library
from peerlab.records.load import load
from peerlab.records.schema import Records, checked_records
from peerlab.records.simulated import simulated

__all__ = ["COLUMNS", "Records", "checked_records", "load", "measured_for", "measured_library", "simulated"]
