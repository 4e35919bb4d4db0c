"""`peerlab validate`: machines with no log of their own, and somebody's log beside what its library's law says."""

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path

from peerlab.base import outfile
from peerlab.base.errors import ExpectationError, PeerlabError
from peerlab.base.progress_bar import with_progress
from peerlab.base.terminal_text import table
from peerlab.base.units import say_bytes, say_percent, say_time
from peerlab.features.validate.held_out.floor_factors import floor_factors_of, written_floors
from peerlab.features.validate.held_out.law_errors import (
    Inside,
    LeftOut,
    coverage,
    law_errors_of,
    left_out,
    written,
)
from peerlab.features.validate.held_out.logged_machines import load_machines
from peerlab.features.validate.held_out.unseen import DIFFERS, SIZES, Unseen, against, unseen
from peerlab.model.paths import path_title
from peerlab.records import load

HEAD = (
    "machine",
    "library",
    "constants",
    "median",
    "worst",
    "topology alone",
    *(f"{name}" for name, *_ in SIZES),
)
"""Headings of the table."""


def machine_cells(machine: Unseen) -> tuple[str, ...]:
    """Return the cells of one machine: errors in per cent, signed but for the medians of their sizes."""
    worst = f"{say_percent(machine.worst.error, sign=True)} at {say_bytes(machine.worst.size)}"
    # Without its section: all of these are the library's.
    constants = ", ".join(f"{key.partition('.')[2]} {value:g}" for key, value in machine.constants.items())
    by_size = ("" if math.isnan(error) else say_percent(error, sign=True) for error in machine.by_size())
    mark = "" if machine.promised else " *"
    return (
        machine.name + mark,
        machine.library,
        constants,
        say_percent(machine.median),
        worst,
        say_percent(machine.median_alone),
        *by_size,
    )


def print_machines(machines: Sequence[Unseen], *, points: bool) -> None:
    """Print the table of machines, those whose accuracy is not promised marked."""
    if not machines:
        return
    print("machines with no log of their own: constants of their library fitted on the others' logs (us)")
    print(table(HEAD, list(map(machine_cells, machines))))
    for machine in machines:
        if machine.note:
            print(f"  {'* ' if not machine.promised else ''}{machine.name}: {machine.note}")
        if points:
            print_points(machine)
    print()


COVERAGE_HEAD = ("measured times", "", "inside by figures", "with the model's error", "median", "worst")
"""Headings of the table of coverage."""


def coverage_cells(inside: Inside) -> tuple[str, ...]:
    """Return the cells of one group."""
    shares = (say_percent(count / inside.times) for count in (inside.by_figures, inside.by_law))
    return (
        inside.group,
        str(inside.times),
        *shares,
        say_percent(inside.median),
        say_percent(inside.worst, sign=True),
    )


def print_coverage(machines: Sequence[Unseen]) -> None:
    """Print how many measured times lie inside their bands, each machine left out in turn."""
    if not machines:
        return
    print("measured times inside their bands: each machine left out of the fit, and of the error of its law")
    print(
        table(
            COVERAGE_HEAD,
            [coverage_cells(inside) for inside in coverage(left_out(machines))],
            right=range(1, 6),
        )
    )
    print()


def print_points(machine: Unseen) -> None:
    """Print every size of a log."""
    rows = [
        (
            say_bytes(point.size),
            say_time(round(point.measured_s * 1e12)),
            say_time(round(point.simulated_s * 1e12)),
            say_percent(point.error, sign=True) + ("" if point.counts else " (not counted)"),
            say_percent(point.error_alone, sign=True),
            point.says,
        )
        for point in machine.points
    ]
    print(table(("size", "measured", "simulated", "error", "topology alone", "library"), rows))


def print_log(options: argparse.Namespace) -> int:
    """Hold one log against its cluster and library."""
    if not options.cluster:
        raise PeerlabError("--log needs --cluster: the machine that the log is of")
    compared = against(
        load(options.log), options.cluster, options.library, options.library_version, options.path
    )
    if options.json:
        print(json.dumps(compared.as_dict(), indent=2))
        return 0
    print_points(compared)
    print(
        f"\n{compared.library}, {path_title(compared.path)}: median error {say_percent(compared.median)}, "
        f"worst {say_percent(compared.worst.error, sign=True)} at {say_bytes(compared.worst.size)}; topology alone {say_percent(compared.median_alone)}"
    )
    if compared.not_counted:
        sizes = ", ".join(say_bytes(size_error.size) for size_error in compared.not_counted)
        print(
            f"not counted for the worst, as out of place and in place differ by more than {say_percent(DIFFERS)}: {sizes}"
        )
    return 0


def _times_left_out() -> list[LeftOut]:
    """Return every measured time of all machines, each left out of the fit in turn."""
    machines = load_machines()
    return left_out(with_progress(unseen(machines), "unseen machines", "machines", len(machines)))


def derive_errors(file: Path) -> int:
    """Write the errors of laws, from machines left out in turn."""
    # First of all: what is derived takes minutes.
    outfile.check_place(file, ExpectationError)
    law_errors = law_errors_of(_times_left_out())
    with outfile.written(file, ExpectationError) as place:
        place.write_text(written(law_errors), encoding="utf-8")
    for law_error in law_errors:
        what = " ".join(filter(None, (law_error.transport or "all transports", law_error.algorithm)))
        print(f"{what}: {law_error.times:.3f} times; {law_error.in_words}")
    return 0


def derive_floors(file: Path) -> int:
    """Write the factors of floors, from machines left out in turn."""
    outfile.check_place(file, ExpectationError)
    factors = floor_factors_of(_times_left_out())
    with outfile.written(file, ExpectationError) as place:
        place.write_text(written_floors(factors), encoding="utf-8")
    for factor in factors:
        print(f"{', '.join(factor.transports)}: {factor.times:.2f} times; {factor.says}")
    return 0
