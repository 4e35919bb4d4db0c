"""For atheris: bytes chosen by which lines of the readers they reach. Run by test_fuzz_target.py, or by hand."""

import sys

import atheris

with atheris.instrument_imports(include=["peerlab.records"]):
    import peerlab.records

from peerlab.base.errors import RecordsError


def one_input(held: bytes) -> None:
    """Load any bytes as a pasted text."""
    try:
        peerlab.records.load(held.decode("utf-8", errors="replace") + "\n")
    except RecordsError as problem:
        if "\n" in str(problem):
            raise ValueError("an error of several lines") from problem


atheris.Setup(sys.argv, one_input)
atheris.Fuzz()
