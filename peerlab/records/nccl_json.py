"""What nccl-tests write with -J: one JSON object, with the whole environment in it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from peerlab.errors import RecordsError
from peerlab.records.launch import Launch, allowed, read_launch
from peerlab.records.nccl import TOOL, VARIANTS, Test, describe, finish_test, group
from peerlab.records.notes import Damage
from peerlab.records.schema import Records
from peerlab.records.text import Log, number, whole

_RESULTS = '"results"'


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
    whole_file, report = _parsed(log)
    config, results = report.get("config"), report.get("results")
    devices = config.get("devices") if isinstance(config, dict) else None
    test, damage = Test(), Damage("result")
    notes = [] if whole_file else ["the file is cut off; results up to there are kept"]
    for one in _dicts(devices):
        rank = one.get("rank")
        if isinstance(rank, int):
            test.ranks[rank] = (_text(one.get("hostname")), _text(one.get("device_info")))
    for place, one in enumerate(_dicts(results), start=1):
        try:
            test.rows += list(_row(one))
        except RecordsError as problem:
            damage.row(place, str(problem))
    if not test.rows:
        raise log.fail(f"JSON of nccl-tests without a result{damage.first()}")
    launch = _launch(report)
    test.name = launch.binary
    rows = finish_test(test, launch, f"{TOOL}: {log.name}", notes)
    return Records.of(rows, _manifest(report, test, launch, rows), [*damage.sentences(), *notes])


def _parsed(log: Log) -> tuple[bool, dict[str, Any]]:
    """Return whether the text is whole, and the object, of which a tail may be missing."""
    try:
        return True, _object(json.loads(log.text))
    except RecursionError:
        raise log.fail("JSON that is nested too deeply") from None
    except ValueError:
        pass
    head, found, tail = log.text.partition(_RESULTS)
    try:
        report = _object(json.loads(head.rstrip().rstrip(",") + "}"))
    except (ValueError, RecursionError):
        raise log.fail("JSON of nccl-tests that is damaged before its results") from None
    return False, report | {"results": list(_whole_results(tail)) if found else []}


def _whole_results(text: str) -> Iterator[Any]:
    """Return the objects of a list that is cut off."""
    decoder, place = json.JSONDecoder(), text.find("{")
    while place >= 0:
        try:
            one, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        yield one
        place = text.find("{", place)


def _row(one: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    size = whole(_text(one.get("size")))
    if size is None:
        raise RecordsError("it has no size")
    row = {"size_bytes": size, "dtype": _text(one.get("type")), "op": _text(one.get("redop"))}
    row["root"] = _text(one.get("root")).strip() or "-1"
    for variant, key in zip(VARIANTS, ("out_of_place", "in_place"), strict=True):
        figures = one.get(key)
        if isinstance(figures, dict):
            time = figures.get("time", figures.get("cpu_time"))
            found = (
                number(_text(time), power=-6),
                *(number(_text(figures.get(k))) for k in ("alg_bw", "bus_bw")),
            )
            if any(figure is None for figure in found):
                raise RecordsError(f"{key} has no time, alg_bw or bus_bw that is a number")
            yield group(
                row, variant, [f for f in found if f is not None], number(_text(figures.get("nwrong")))
            )


def _launch(report: Mapping[str, Any]) -> Launch:
    words = [_text(word) for word in report.get("args", []) if isinstance(report.get("args"), list)]
    return read_launch(" ".join(words)) or Launch(command=" ".join(words))


def _manifest(
    report: Mapping[str, Any], test: Test, launch: Launch, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    environment, bounds = report.get("env"), report.get("out_of_bounds")
    if isinstance(bounds, dict):
        verdict = "OK" if bounds.get("okay") == "true" else "FAILED"
        test.bounds = f"Out of bounds values : {_text(bounds.get('count'))} {verdict}"
    return {
        "tool": TOOL,
        "version": _version(report.get("nccl_version")),
        "command": launch.command,
        **describe([test], launch, rows),
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
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    """Return a scalar as text that may be shown; anything else is no text."""
    return str(value)[:300] if isinstance(value, (str, int, float)) else ""
