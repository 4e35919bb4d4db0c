"""What a machine should reach, and whether a log of it is well: `expect`."""

from peerlab.features.expect.causes import JudgedSize, PossibleCause
from peerlab.features.expect.expectation import Expectation, ExpectedSize
from peerlab.features.expect.expecting import expect
from peerlab.features.expect.judging import LogVerdict

__all__ = ["Expectation", "ExpectedSize", "JudgedSize", "LogVerdict", "PossibleCause", "expect"]
