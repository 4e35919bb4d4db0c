"""Files of workloads and devices: TOML, read and checked; every figure with a source, or an assumption with its range."""

from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from peerlab.base.errors import WorkloadError, nearest
from peerlab.base.places import folder
from peerlab.base.textfile import read_text, read_toml
from peerlab.model.hardware import Figure
from peerlab.training.workload import ITEM_BYTES, MeasuredStep, TrainedLayer, Workload

_MOST_BYTES = 2**20
_MOST_LAYERS = 10_000
_MOST_PARAMETERS = 2**43
_MOST_BATCH = 2**20
_MOST_MS = 1e9
_LEAST = 1e-6
"""Of a time in ms, a rate in TFLOP/s, and operations in TFLOP."""
_TEXTS = ("name", "title", "sample", "gradient_dtype", "layer_shares")
_KNOWN = (
    *_TEXTS, "samples_per_epoch", "forward_share", "flop_per_sample", "compute", "rate", "blocks",
)  # fmt: skip


@cache
def known_workloads() -> tuple[str, ...]:
    """Return the names of the workloads that come with peerlab."""
    return tuple(sorted(path.stem for path in (folder("data") / "workloads").glob("*.toml")))


def load_workload(name: "str | Path | Workload") -> Workload:
    """Return a workload by name, or from the path of a TOML file of your own.

    Raises
    ------
    WorkloadError
        If there is no such workload or file, or the file is wrong.

    >>> load_workload("bert-large").title
    'BERT-large'
    """
    if isinstance(name, Workload):
        return name
    if name in known_workloads():
        return _of_ours(str(name))
    if not str(name).endswith(".toml"):
        offer = nearest(str(name), known_workloads())
        raise WorkloadError(
            f"unknown workload {str(name)!r}; {offer}; or the path of a .toml file of your own"
        )
    return _read(Path(name))


@cache
def _of_ours(name: str) -> Workload:
    return _read(folder("data") / "workloads" / f"{name}.toml")


def _read(path: Path) -> Workload:
    text = read_text(path, what="workload file", most_bytes=_MOST_BYTES, error=WorkloadError)
    try:
        return read_workload(read_toml(text, "this is not a TOML file", WorkloadError))
    except WorkloadError as problem:
        raise WorkloadError(f"{path}: {problem}") from None


@cache
def device_figures() -> dict[str, dict[str, Figure]]:
    """Return what is known of devices beyond cluster files, by name: ``slowdown`` (share), ``peak`` (TFLOP/s), ``memory`` (GB)."""
    path = folder("data") / "devices.toml"
    text = read_text(path, what="file of devices", most_bytes=_MOST_BYTES, error=WorkloadError)
    document = read_toml(text, "this is not a TOML file", WorkloadError)
    return {
        name: {key: _figure(f"{name}.{key}", entry) for key, entry in entries.items()}
        for name, entries in document.items()
    }


def read_workload(document: dict[str, Any]) -> Workload:
    """Return the workload that a TOML document describes.

    Raises
    ------
    WorkloadError
        One line that names the first wrong or missing entry.
    """
    # A misspelt name of an optional entry would else be left out without a word.
    for name in document:
        if name not in _KNOWN:
            raise WorkloadError(f"{name!r} is unknown; {nearest(name, _KNOWN)}")
    texts = {name: _text(document, name) for name in _TEXTS}
    if texts["gradient_dtype"] not in ITEM_BYTES:
        raise WorkloadError(f"gradient_dtype: {nearest(texts['gradient_dtype'], ITEM_BYTES)}")
    names, layers = _layers(document.get("blocks"))
    share = _figure("forward_share", document.get("forward_share"))
    if not all(0 < bound < 1 for bound in (share.value, *(share.range or ()))):
        raise WorkloadError("forward_share, and its range, must lie between 0 and 1")
    optional = ("flop_per_sample", "samples_per_epoch")
    options = {name: _figure(name, document[name]) for name in optional if name in document}
    _check_unit(options.get("flop_per_sample"), "TFLOP")
    _check_unit(options.get("samples_per_epoch"), None)
    rates = {
        _text(table, "device"): _figure("rate", table.get("rate")) for table in _tables(document, "rate")
    }
    for rate in rates.values():
        _check_unit(rate, "TFLOP/s")
    measured = tuple(_measured(table) for table in _tables(document, "compute"))
    return Workload(
        name=texts["name"],
        title=texts["title"],
        sample=texts["sample"],
        gradient_dtype=texts["gradient_dtype"],
        layer_shares=texts["layer_shares"],
        forward_share=share,
        layers=layers,
        blocks=names,
        measured=measured,
        rates=rates,
        flop_per_sample=options.get("flop_per_sample"),
        samples_per_epoch=options.get("samples_per_epoch"),
    )


def _text(table: dict[str, Any], name: str) -> str:
    given = table.get(name)
    # It is shown in terminals and pages, so it has no control characters.
    if not isinstance(given, str) or not given.strip() or not given.isprintable():
        raise WorkloadError(f"{name} must be a text on one line, not {given!r:.60}")
    return given


def _tables(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    given = document.get(name, [])
    if not isinstance(given, list) or not all(isinstance(element, dict) for element in given):
        raise WorkloadError(f"{name} must be a list of tables, as in [[{name}]]")
    return given


def _number(given: Any, *, above: float = 0, whole: bool = False) -> bool:
    # True and false are whole numbers to Python.
    if isinstance(given, bool) or not isinstance(given, int if whole else int | float):
        return False
    # Compared, since `isfinite` fails at a whole number of 309 digits.
    return bool(above <= given < 1e18)


def _figure(key: str, given: Any) -> Figure:
    if not isinstance(given, dict):
        raise WorkloadError(
            f"{key} is missing; give it as {{ value = ..., unit = ..., basis = ..., source = ... }}"
        )
    value, bounds = given.get("value"), given.get("range")
    if not _number(value):
        raise WorkloadError(f"{key}: value must be a number, not {value!r:.40}")
    source, assumption = given.get("source", ""), given.get("assumption", "")
    if not source and not assumption:
        raise WorkloadError(f"{key} has neither a source nor an assumption")
    if bounds is not None and not (
        isinstance(bounds, list) and len(bounds) == 2 and all(map(_number, bounds)) and bounds[0] <= bounds[1]
    ):
        raise WorkloadError(f"{key}: range must be two numbers, the lower one first")
    if not source and bounds is None:
        raise WorkloadError(f"{key} is assumed and has no range")
    return Figure(
        key=key,
        value=float(value or 0),
        unit=str(given.get("unit", "1")),
        basis=str(given.get("basis", "")),
        source=str(source),
        assumption=str(assumption),
        range=(float(bounds[0]), float(bounds[1])) if bounds else None,
    )


def _check_unit(figure: Figure | None, unit: str | None) -> None:
    """Refuse a figure in another unit, and one that is nothing, next to nothing, or may be."""
    if figure is None:
        return
    if unit is not None and figure.unit != unit:
        raise WorkloadError(f"{figure.key}: unit must be {unit!r}, not {figure.unit!r:.40}")
    # Times and rates are divided by, so nothing and next to nothing are refused.
    if min(figure.value, *(figure.range or (figure.value,))) < _LEAST:
        raise WorkloadError(f"{figure.key}: value and range must be {_LEAST:g} or more")


def _measured(table: dict[str, Any]) -> MeasuredStep:
    batch, time = table.get("batch"), _figure("compute.time", table.get("time"))
    if not _number(batch, above=1, whole=True) or int(batch or 0) > _MOST_BATCH:
        raise WorkloadError(
            f"compute: batch must be a whole number of samples up to {_MOST_BATCH}, not {batch!r:.40}"
        )
    _check_unit(time, "ms")
    if time.value > _MOST_MS:
        raise WorkloadError(f"compute.time: {time.value:g} ms is more than {_MOST_MS:g} ms")
    counts = [_count_of(table, name) for name in ("nodes", "accumulated")]
    return MeasuredStep(_text(table, "device"), int(batch or 0), time, *counts)


def _count_of(table: dict[str, Any], name: str) -> int:
    given = table.get(name, 1)
    if not _number(given, above=1, whole=True):
        raise WorkloadError(f"compute: {name} must be a whole number from 1 on, not {given!r:.40}")
    return int(given)


def _layers(given: Any) -> tuple[tuple[str, ...], tuple[TrainedLayer, ...]]:
    """Return the names of the blocks, repeated ones numbered, and the layers in them."""
    names: list[str] = []
    layers: list[TrainedLayer] = []
    held = 0  # tensors, all in all
    for block in _tables({"blocks": given or []}, "blocks"):
        name, repeat = _text(block, "name"), block.get("repeat", 1)
        if not _number(repeat, above=1, whole=True) or repeat > _MOST_LAYERS:
            raise WorkloadError(f"block {name}: repeat must be a whole number up to {_MOST_LAYERS}")
        inside = [_layer(name, table) for table in _tables(block, "layers")]
        if not inside:
            raise WorkloadError(f"block {name}: has no layers")
        # Counted before anything is made: a short file may ask for 10,000 times 10,000.
        held += repeat * sum(len(sizes) for *_, sizes in inside)
        if max(len(layers) + repeat * len(inside), held / 10) > _MOST_LAYERS:
            raise WorkloadError(f"more than {_MOST_LAYERS:,} layers, or ten times as many tensors")
        for turn in range(repeat):
            called = name if repeat == 1 else f"{name}.{turn}"
            layers += [
                TrainedLayer(f"{called}.{part}", len(names), share, sizes) for part, share, sizes in inside
            ]
            names.append(called)
    total = sum(sum(layer.tensors) for layer in layers)
    if not 0 < total <= _MOST_PARAMETERS or not sum(layer.share for layer in layers):
        raise WorkloadError(
            "blocks must have layers with parameters (fewer than 8 trillion) and shares of the computing"
        )
    return tuple(names), tuple(layers)


def _layer(block: str, given: dict[str, Any]) -> tuple[str, float, tuple[int, ...]]:
    name, share, tensors = _text(given, "name"), given.get("share"), given.get("tensors")
    if not _number(share):
        raise WorkloadError(f"layer {block}.{name}: share must be a number of 0 or more")
    shapes = tensors if isinstance(tensors, list) else []
    if not shapes or not all(isinstance(shape, list) and shape for shape in shapes):
        raise WorkloadError(
            f"layer {block}.{name}: tensors must be a list of shapes, as in [[64, 3, 7, 7], [64]]"
        )
    if not all(_number(side, above=1, whole=True) for shape in shapes for side in shape):
        raise WorkloadError(f"layer {block}.{name}: a shape has whole numbers of 1 or more")
    return name, float(share or 0), tuple(map(prod, shapes))
