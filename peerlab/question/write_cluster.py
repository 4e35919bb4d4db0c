"""Writes cluster files: a cluster as the text of a file, and a file that overwrites nothing unasked."""

import json
from collections.abc import Iterator
from pathlib import Path

from peerlab.base.errors import HardwareError
from peerlab.base.outfile import check_place, written
from peerlab.base.textfile import in_words, printable
from peerlab.library.library_record import NONE
from peerlab.model.hardware import Cluster, Figure
from peerlab.model.nic_wiring import Wiring
from peerlab.model.wiring_reading import wiring_by_rule


def check_new(path: Path, *, force: bool = False) -> None:
    """Refuse what :func:`write_new` would refuse, as far as that shows before: work should not be done in vain.

    Raises
    ------
    HardwareError
        If there is such a file already (unless `force`), its name does not end in .toml, or its folder is not there.
    """
    if path.suffix != ".toml":
        raise HardwareError(f"{path}: a cluster file ends in .toml, as in {path.stem or 'my'}.toml")
    with in_words(f"cannot write {path}", HardwareError):
        file = path.expanduser()
        if file.exists() and not file.is_file():  # opening a pipe would wait for a reader
            raise HardwareError(f"cannot write {path}: not a file")
        if file.exists() and not force:
            raise HardwareError(f"{path} is there already; --force overwrites it")
    check_place(path, HardwareError)


def write_new(path: Path, text: str, *, force: bool = False) -> None:
    """Write a cluster file.

    Raises
    ------
    HardwareError
        If there is such a file already (unless `force`), or it cannot be written.
    """
    check_new(path, force=force)
    with written(path, HardwareError) as file:
        file.write_text(text, encoding="utf-8")


def quoted(value: str) -> str:
    """Return a text as TOML writes it, without what cannot be printed."""
    return json.dumps(printable(value), ensure_ascii=False)


def cluster_text(cluster: Cluster, remark: str) -> str:
    """Return the text of a file that describes `cluster`; `remark` is its first line."""
    parts = [f"# {printable(remark)}", *_texts(cluster), "", "[paths]"]
    parts += [f"has = [{', '.join(map(quoted, cluster.paths))}]", "", "[paths.lacks]"]
    parts += [f"{path} = {quoted(why)}" for path, why in cluster.lacks.items()]
    if cluster.leaves_out:
        parts += ["", "[leaves_out]"]
        parts += [f"{quoted(key)} = {quoted(why)}" for key, why in cluster.leaves_out.items()]
    parts += _wiring(cluster.wiring, cluster)
    texts = {"library": [*_library(cluster)], "transport": [*_transport(cluster)]}
    sections = [
        *(name for name, lines in texts.items() if lines),
        *(key.partition(".")[0] for key in cluster.figures),
    ]
    # TOML allows each section once, and figures of one section may stand apart
    for section in dict.fromkeys(sections):
        parts += ["", f"[{section}]", *texts.get(section, [])]
        parts += [
            f"{key.partition('.')[2]} = {_entry(figure)}"
            for key, figure in cluster.figures.items()
            if key.partition(".")[0] == section
        ]
    return "\n".join(parts) + "\n"


def _library(cluster: Cluster) -> Iterator[str]:
    if cluster.library != NONE:
        yield f"name = {quoted(cluster.library)}"
        if cluster.library_version:
            yield f"version = {quoted(cluster.library_version)}"


def _transport(cluster: Cluster) -> Iterator[str]:
    if cluster.transport:
        yield f"name = {quoted(cluster.transport)}"
    if cluster.transports:
        yield f"has = [{', '.join(map(quoted, cluster.transports))}]"


def _wiring(wiring: Wiring, cluster: Cluster) -> Iterator[str]:
    """Yield the section on where the NICs hang; none where the figures say it all."""
    # so a file that is read and written again does not gain a section that it never had
    if wiring in (Wiring(), wiring_by_rule(cluster.figures)):
        return
    yield from ("", "[wiring]", *_place(wiring.nic, acs_redirect=wiring.acs_redirect))
    for name in ("source", "assumption", "evidence", "suggests", "check"):
        if getattr(wiring, name):
            yield f"{name} = {quoted(getattr(wiring, name))}"
    for other in wiring.others:
        yield from ("", "[[wiring.other]]", *_place(other.nic, acs_redirect=other.acs_redirect))
        yield f"possible = {str(other.possible).lower()}"
        yield f"because = {quoted(other.because)}"


def _place(nic: str, *, acs_redirect: bool) -> tuple[str, str]:
    return f"nic = {quoted(nic)}", f"acs_redirect = {str(acs_redirect).lower()}"


def _texts(cluster: Cluster) -> Iterator[str]:
    for name in ("name", "title", "device_name", "summary", "fitted_on", "cpu"):
        if getattr(cluster, name):
            yield f"{name} = {quoted(getattr(cluster, name))}"


def _entry(figure: Figure) -> str:
    # all digits, so that the file gives the same cluster when it is read
    parts = [f"value = {figure.value!r}"]
    parts += [f"{name} = {quoted(getattr(figure, name))}" for name in ("unit", "basis", "source")]
    if figure.assumption:
        parts.append(f"assumption = {quoted(figure.assumption)}")
    if figure.range:
        parts.append(f"range = [{figure.range[0]!r}, {figure.range[1]!r}]")
    return f"{{ {', '.join(parts)} }}"
