"""`peerlab validate`: the model against expected figures, against other simulators, or its laws against logs."""

import argparse
import json
import math
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from peerlab.base import outfile
from peerlab.base.errors import ExpectationError, PeerlabError, nearest, one_line
from peerlab.base.exit_status import WRONG_USAGE
from peerlab.base.extras import check_installed
from peerlab.base.progress_bar import with_progress
from peerlab.base.terminal_text import command, table
from peerlab.engine.loop.collector import not_collecting
from peerlab.features.validate.expected_figures import Elsewhere, ExpectedRow, load_expected
from peerlab.features.validate.held_out.logged_machines import load_machines
from peerlab.features.validate.held_out.unseen import unseen
from peerlab.features.validate.held_out.validate_machines import (
    derive_errors,
    derive_floors,
    print_coverage,
    print_log,
    print_machines,
)
from peerlab.features.validate.other_simulators import ReferenceAnswer, run_reference
from peerlab.features.validate.reference_file import read_reference
from peerlab.features.validate.table_cells import CELLS, cells, say_error, say_expected, say_score
from peerlab.features.validate.validation import SimulatedRow, validate

_EXAMPLES = """\
examples:
  peerlab validate                           everything the model must agree with
  peerlab validate --only alps               only rows whose name or group holds this; * and ? work too
  peerlab validate --points                  every point of rows that have several
  peerlab validate --plot                    the same as a picture, validation.html
  peerlab validate --reference results.csv   another simulator's results, with the relative error of each
  peerlab validate --log run.log --cluster my.toml
                                             your own log of nccl-tests beside what its library's law says

exit status: 0 every row is met, 1 some row is not, 2 wrong usage, or a file cannot be read or written
"""


def add(commands: Any) -> None:
    """Add the command."""
    sentence = "simulate everything the model must agree with and say by how much it differs"
    sub = command(commands, "validate", sentence, _validate, epilog=_EXAMPLES)
    sub.set_defaults(refused=WRONG_USAGE)  # 1 would say that a row is not met
    add = sub.add_argument
    add(
        "--only",
        metavar="PATTERN",
        help="only rows whose name or group holds this text or matches this pattern",
    )
    add("--points", action="store_true", help="print every point of rows that have several")
    add(
        "--reference",
        metavar="FILE.csv",
        type=Path,
        help="compare with a file of other simulators' results instead",
    )
    add(
        "--plot",
        metavar="FILE",
        nargs="?",
        type=Path,
        const=Path("validation.html"),
        help="draw expected against simulated, as a page that needs no network (default: validation.html)",
    )
    _add_log(add)
    add(
        "--law-errors",
        metavar="FILE.toml",
        type=Path,
        help="derive the errors of laws from machines left out in turn and write them (data/law_errors.toml) instead",
    )
    add(
        "--floors",
        metavar="FILE.toml",
        type=Path,
        help="derive the factors of floors from machines left out in turn and write them (data/floors.toml) instead",
    )
    add("--json", action="store_true", help="print everything as JSON")


def _add_log(add: Callable[..., Any]) -> None:
    """Add the options that hold a log against the model."""
    add("--log", metavar="LOG", type=Path, help="hold a log against its cluster and library instead")
    add("--cluster", help="with --log: a known cluster, or the path of a .toml file of your own")
    add("--path", help="with --log: its data path (default: what the log says, else the cluster's first)")
    add("--library", help="with --log: its communication library (default: the cluster's)")
    add(
        "--library-version",
        metavar="VERSION",
        help="with --log: that library's version (default: the cluster's)",
    )


def _validate(options: argparse.Namespace) -> int:
    if options.plot and options.plot.suffix not in (".html", ".htm"):
        raise PeerlabError(f"--plot writes a page: {options.plot} must end in .html or .htm")
    if options.plot:
        check_installed("--plot", "bokeh")
        # Before the first row: minutes of simulation are not to end at a file that cannot be written.
        outfile.check_place(options.plot, ExpectationError)
    _check_asked(options)
    if options.law_errors or options.floors:
        return derive_errors(options.law_errors) if options.law_errors else derive_floors(options.floors)
    if options.log:
        return print_log(options)
    if options.reference:
        return _reference(options)
    expectations = load_expected()
    rows = _chosen(expectations.rows, options.only)
    # `--only` names rows, and machines are no rows.
    machines = () if options.only else load_machines()
    with not_collecting():  # thousands of short simulations
        results = list(with_progress(validate(rows), "validate", "rows", len(rows)))
        _draw(options, [dot for result in results for dot in _dots_of(result)])
        foretold = list(with_progress(unseen(machines), "unseen machines", "machines", len(machines)))
    failed = [result for result in results if not result.passed]
    if options.json:
        row_entries = [row.as_dict() for row in results]
        machine_entries = [machine.as_dict() for machine in foretold]
        print(json.dumps({"passed": not failed, "rows": row_entries, "machines": machine_entries}, indent=2))
    else:
        print_machines(foretold, points=options.points)
        print_coverage(foretold)
        _print_groups(results, points=options.points)
        _print_elsewhere(() if options.only else expectations.elsewhere)
        print(f"\n{say_score(results)}")
    # Machines are told, not judged: only rows decide the exit status.
    return 1 if failed else 0


def _check_asked(options: argparse.Namespace) -> None:
    """Refuse options that would have no effect beside another."""
    asked = [name for name in ("reference", "log", "law_errors", "floors") if getattr(options, name)]
    if len(asked) > 1:
        raise PeerlabError(
            f"{_option(asked[0])} and {_option(asked[1])} ask for two things; give one of them"
        )
    what = asked[0] if asked else ""
    # a picture is drawn of another simulator's results, too
    ours = {"": (), "reference": ("only", "points"), "log": ("only", "points", "plot")}
    for name in ours.get(what, ("only", "points", "plot", "json")):
        if getattr(options, name):
            raise PeerlabError(f"--{name} is for our own rows, not for {_option(what)}")
    for name in ("cluster", "path", "library", "library_version") if what != "log" else ():
        if getattr(options, name):
            raise PeerlabError(f"{_option(name)} goes with --log")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _chosen(rows: Sequence[ExpectedRow], pattern: str | None) -> list[ExpectedRow]:
    if pattern is None:
        return list(rows)

    def matches(row: ExpectedRow) -> bool:
        return any(pattern in text or fnmatch(text, pattern) for text in (row.name, row.group))

    chosen = [row for row in rows if matches(row)]
    if not chosen:
        raise ExpectationError(
            f"--only: no row matches {pattern!r}; {nearest(pattern, [row.name for row in rows])}"
        )
    return chosen


def _print_groups(results: Sequence[SimulatedRow], *, points: bool) -> None:
    rows = [
        cells(result, answer) for result in results for answer in (None, *(result.answers if points else ()))
    ]
    widths = [max(len(row[i]) for row in [CELLS, *rows]) for i in range(len(CELLS))]
    for group in dict.fromkeys(result.row.group for result in results):
        print(f"{group}\n{_line(CELLS, widths)}")
        for result in results:
            if result.row.group == group:
                _print_result(result, widths, points=points)
        print()


def _print_result(result: SimulatedRow, widths: Sequence[int], *, points: bool) -> None:
    print(_line(cells(result), widths))
    for answer in result.answers if points and len(result.answers) > 1 else ():
        print(_line(cells(result, answer), widths))
    for problem in result.problems:
        print(f"      {problem}")
    # A note explains outliers: it stands where there are some, or where every point is printed.
    if result.row.note and (points or result.beyond):
        print(f"      {result.row.note}")


def _line(texts: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (text.ljust(width) for text, width in zip(texts, widths, strict=True))
    return "  " + "  ".join([first, *rest]).rstrip()


def _print_elsewhere(elsewhere: Sequence[Elsewhere]) -> None:
    for requirement in elsewhere:
        print(f"{requirement.name}: {requirement.what}: checked by {requirement.where}")


def _reference(options: argparse.Namespace) -> int:
    file = read_reference(options.reference)
    answers = list(with_progress(run_reference(file), "validate", "rows", len(file.lines)))
    failed = [answer for answer in answers if not answer.passed]
    _draw(options, [_reference_dot(answer) for answer in answers if not math.isnan(answer.simulated_s)])
    if options.json:
        print(
            json.dumps(
                {"passed": not failed, "rows": [reference_answer.as_dict() for reference_answer in answers]},
                indent=2,
            )
        )
        return 1 if failed else 0
    head = ("line", "simulator", "case", "algorithm", "n", "reference", "simulated", "error", "allowed", "")
    print(table(head, [_reference_cells(answer) for answer in answers]))
    judged = [answer for answer in answers if answer.judged]
    informs = len(answers) - len(judged)
    more = f", {informs} for information" if informs else ""
    print(f"\n{len(judged) - len(failed)} of {len(judged)} rows met{more}")
    for answer in failed:
        if answer.problem:
            print(f"line {answer.line}: {answer.problem}")
    return 1 if failed else 0


def _reference_cells(answer: ReferenceAnswer) -> tuple[str, ...]:
    row, allowed = answer.row, answer.tolerance
    if row is None:
        return (str(answer.line), *["-"] * 8, "not run")
    return (
        str(answer.line),
        row.simulator,
        row.case,
        row.algorithm,
        str(row.n),
        f"{row.sim_time_s:.9g} s",
        "-" if answer.problem else f"{answer.simulated_s:.9g} s",
        "-" if answer.problem else say_error(answer.error),
        "for information" if allowed is None else say_error(allowed),
        "not run" if answer.problem else "" if allowed is None else "met" if answer.passed else "NOT MET",
    )


def _dots_of(result: SimulatedRow) -> list[dict[str, Any]]:
    row = result.row
    return [
        {
            "group": row.group + (", fitted" if row.fitted else ""),
            "name": f"{row.name} {answer.point.label}".strip(),
            # A range is drawn at its middle; the words beside it say from where to where it goes.
            "expected": sum(wanted) / 2 if isinstance(wanted, tuple) else wanted,
            "says": say_expected(answer, row.unit),
            "simulated": answer.simulated,
            "error": answer.error,
            "unit": row.unit,
            "note": row.note if answer in result.beyond else "",
        }
        for answer in result.answers
        for wanted in [answer.point.expected]
    ]


def _reference_dot(answer: ReferenceAnswer) -> dict[str, Any]:
    entries = answer.as_dict()
    return {
        "group": entries["case"],
        "name": f"line {answer.line}: {entries['simulator']} {entries['algorithm']}, n = {entries['n']}",
        "expected": entries["reference_s"],
        "says": f"{entries['reference_s']:.9g} s",
        "simulated": answer.simulated_s,
        "error": answer.error,
        "unit": "s",
        "note": "for information" if answer.tolerance is None else "",
    }


def _draw(options: argparse.Namespace, dots: Sequence[dict[str, Any]]) -> None:
    if not options.plot:
        return
    from peerlab.features.validate.expected_page import write_page  # noqa: PLC0415  (Bokeh is loaded only where a picture is asked for)

    write_page(dots, options.plot)
    if not options.json:
        print(f"drawn: {one_line(options.plot)}\n")
