"""What a machine should reach, and whether a log of it is well: `expect`."""

from peerlab.study.expect.causes import JudgedSize, PossibleCause
from peerlab.study.expect.expectation import Expectation, ExpectedSize
from peerlab.study.expect.expecting import expect
from peerlab.study.expect.judging import LogVerdict

__all__ = ["Expectation", "ExpectedSize", "JudgedSize", "LogVerdict", "PossibleCause", "expect"]
