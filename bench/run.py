"""How fast peerlab is, beside what a user would pick: `make bench` prints the tables and writes docs/bench.md.

`make bench ARGS="engines growth"` measures these sections again and leaves the others as they are.
"""

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import ahead
import engines
import export
import growth
import lab
import libraries
import looks
import ports
import seats
import settings
import simulators
import sweeps
import tab
import training

SECTIONS: dict[str, Callable[[], str]] = {
    "simulators": simulators.section,
    "engines": engines.section,
    "settings": settings.section,
    "growth": growth.section,
    "sweeps": sweeps.section,
    "training": training.section,
    "ports": ports.section,
    "lab": lab.section,
    "ahead": ahead.section,
    "libraries": libraries.section,
    "tab": tab.section,
    "export": export.section,
    "looks": looks.section,
    "seats": seats.section,
}
"""Each measures something and tells it: a heading, a table, what it means."""

DOCUMENT = Path(__file__).parent.parent / "docs" / "bench.md"
INTRODUCTION = """# How fast it is

Written by `make bench` on a machine with {cores} cores that others use too. Seconds of one machine say little; so whatever is
compared was measured side by side in one run, in turn, and a row that was not says so. Times are CPU time, which others disturb
least, except where several processes work or a browser shows something.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="section", help=f"of {', '.join(SECTIONS)}; none: all")
    chosen = parser.parse_args().sections or list(SECTIONS)
    unknown = [name for name in chosen if name not in SECTIONS]
    if unknown:
        parser.error(f"unknown section {unknown[0]!r}; known: {', '.join(SECTIONS)}")
    for name in chosen:
        text = SECTIONS[name]().strip()
        print(f"{text}\n", flush=True)
        write(name, text)


def write(name: str, text: str) -> None:
    """Put a section into the document, in its place; what else it holds stays."""
    found = dict(part.split(" -->\n", 1) for part in DOCUMENT.read_text().split("<!-- bench: ")[1:])
    found[name] = text
    parts = [f"<!-- bench: {name} -->\n{found[name].strip()}\n" for name in SECTIONS if name in found]
    DOCUMENT.write_text("\n".join([INTRODUCTION.format(cores=os.cpu_count()), *parts]))


if __name__ == "__main__":
    main()
