"""What nccl-tests write with -J: one JSON object, with the whole environment in it."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from peerlab.base.errors import RecordsError
from peerlab.records.figures import Printed, printed
from peerlab.records.launch import Launch, allowed, read_launch
from peerlab.records.nccl_results import (
    TOOL,
    VARIANTS,
    Group,
    NcclRow,
    NcclRun,
    describe,
    finished,
    settle,
    verdict,
)
from peerlab.records.notes import MOST_ROWS, Damage
from peerlab.records.schema import Records
from peerlab.records.text import Log, whole

_RESULTS = '"results"'
_RESULT = re.compile(r'\{\s*"size"')
_MORE = re.compile(r"\s*,")


def looks_like(log: Log) -> bool:
    """Say whether a text begins as such an object does."""
    head = log.text[:4096].lstrip()
    return head.startswith("{") and '"version"' in head and '"args"' in head


def read(log: Log) -> Records:
    """Return the results; of the environment only what tells about the transport is kept.

    Raises
    ------
    RecordsError
        If there is no result. Of a file that was cut off, whole results are kept.
    """
    damage = Damage(log, "result")
    whole_file, report = _parsed(log)
    config, results = report.get("config"), report.get("results")
    test = NcclRun()
    notes = [] if whole_file else ["the file is damaged or cut off; its whole results are kept"]
    for device in _dicts(config.get("devices") if isinstance(config, dict) else None):
        rank = device.get("rank")
        if isinstance(rank, int):
            test.devices[rank] = (_text(device.get("hostname")), _text(device.get("device_info")))
    for place, result in enumerate(results if isinstance(results, list) else (), start=1):
        if row := damage.take(place, partial(_row, result, place)):
            test.rows.append(row)
    if not test.rows:
        raise log.fail(f"JSON of nccl-tests without a result{damage.first()}")
    test.launch = _launch(report)
    test.name = test.launch.binary
    settle(test, notes, damage)
    rows = finished(test, f"{TOOL}: {log.name}")
    return Records.of(rows, _manifest(report, test), [*damage.sentences(), *notes])


def _parsed(log: Log) -> tuple[bool, dict[str, Any]]:
    """Return whether the text is whole, and the object, of which parts may be missing."""
    try:
        return True, _object(json.loads(log.text))
    except RecursionError:
        raise log.fail("JSON that is nested too deeply") from None
    except ValueError:
        pass
    head, text, tail = log.text.partition(_RESULTS)
    try:
        # What stands before the results is an object but for its brace.
        report = _object(json.loads(head.rstrip().rstrip(",") + "}"))
    except (ValueError, RecursionError):
        raise log.fail("JSON of nccl-tests that is damaged before its results") from None
    # One more than may be read, so that a longer list is refused.
    return False, report | {"results": list(islice(_whole_results(tail), MOST_ROWS + 1)) if text else []}


def _whole_results(text: str) -> Iterator[Any]:
    """Return the objects of a list that is damaged or cut off; None stands for each that is not whole."""
    decoder, place = json.JSONDecoder(), text.find("{")
    while place >= 0:
        try:
            result, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            # A result is known by how it begins, so what follows a damaged one is not lost.
            result, after = None, _RESULT.search(text, place + 1)
            place = after.start() if after else -1
        else:
            # Without a comma the list is over, or cut off.
            place = text.find("{", end) if _MORE.match(text, end) else -1
        yield result


def _row(result: Any, place: int) -> NcclRow:
    if not isinstance(result, dict):
        raise RecordsError("it is damaged or cut off")
    size, count = whole(_text(result.get("size"))), whole(_text(result.get("count")))
    if size is None:
        raise RecordsError("it has no size")
    if count is None:
        raise RecordsError("it has no count")
    keys = zip(VARIANTS, ("out_of_place", "in_place"), strict=True)
    groups = tuple(_group(variant, key, result[key]) for variant, key in keys if result.get(key) is not None)
    if not groups:
        raise RecordsError("it has no figures")
    root = _text(result.get("root")).strip() or "-1"
    return NcclRow(place, size, count, _text(result.get("type")), _text(result.get("redop")), root, groups)


def _group(variant: str, key: str, figures: Any) -> Group:
    options: Mapping[str, Any] = figures if isinstance(figures, dict) else {}
    by_processor = "cpu_time" in options
    time = _figure(options.get("cpu_time" if by_processor else "time"), 1e-6)
    algbw, busbw = (_figure(options.get(name), 1) for name in ("alg_bw", "bus_bw"))
    if time is None or algbw is None or busbw is None:
        raise RecordsError(f"{key} has no time, alg_bw or bus_bw that is a number")
    wrong = _figure(options.get("nwrong"), 1)
    if wrong is None and options.get("nwrong") is not None:
        raise RecordsError(f"{key} has an nwrong that is no number")
    return Group(variant, time, algbw, busbw, verdict(wrong.value if wrong else None), by_processor)


def _figure(value: Any, unit: float) -> Printed | None:
    """Return a figure, which is written with six decimals, however many of them are zeros and were left away."""
    figure = printed(_text(value))
    return figure and Printed(figure.value, 5e-7).times(unit)


def _launch(report: Mapping[str, Any]) -> Launch:
    words = [_text(word) for word in report.get("args", []) if isinstance(report.get("args"), list)]
    return read_launch(" ".join(words)) or Launch(command=" ".join(words))


def _manifest(report: Mapping[str, Any], test: NcclRun) -> dict[str, Any]:
    environment, bounds = report.get("env"), report.get("out_of_bounds")
    if isinstance(bounds, dict):
        # nccl-tests write this truth as a text.
        sentence = "OK" if bounds.get("okay") == "true" else "FAILED"
        test.bounds = f"Out of bounds values : {_text(bounds.get('count'))} {sentence}"
    return {
        "tool": TOOL,
        "version": _version(report.get("nccl_version")),
        "command": test.launch.command,
        **describe([test], test.launch),
        "transport": [],
        "environment": allowed(map(_text, environment if isinstance(environment, list) else ())),
    }


def _version(code: Any) -> str:
    """Return NCCL's version from its code: 22803 is 2.28.3."""
    if not isinstance(code, int) or not 0 < code < 10**6:
        return ""
    return f"NCCL {code // 10000}.{code // 100 % 100}.{code % 100}"


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("not an object")  # noqa: TRY004  (caught with what json raises)
    return value


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [element for element in value if isinstance(element, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    """Return a scalar as text that may be shown; anything else is no text."""
    return str(value)[:300] if isinstance(value, (str, int, float)) else ""
