"""Writes the static site: a landing page, the live explorer, Python's files, and pages that were recorded."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from gzip import compress
from html import escape
from pathlib import Path
from string import Template

from peerlab import page as sources
from peerlab.answer.gain import GainBand
from peerlab.base.errors import ExportError, ScenarioError, one_line
from peerlab.base.outfile import check_place, new_folder, put_on_disk, written
from peerlab.base.textfile import in_words
from peerlab.base.units import TIMES_SIGN, say_gain
from peerlab.base.version import __version__
from peerlab.engine.simulate import simulate
from peerlab.features.site.both_sides import both_sides
from peerlab.features.site.lab_pages import lab_pages
from peerlab.features.site.landing_picture import landing_picture
from peerlab.features.site.live_page import TITLE, live_page
from peerlab.features.site.pyodide_package import VERSION, pyodide_files
from peerlab.features.site.python_archive import python_archives
from peerlab.features.site.recorded_pages import RECORDED
from peerlab.features.site.tab_fields import SHOWN, linkable
from peerlab.question.presets import known_clusters
from peerlab.question.scenario import Scenario

Told = Callable[[str], None]
_HEAD_BYTES = 2**16
"""So far into a first page its title is looked for."""


def write_site(
    place: str | Path,
    scenario: Scenario | None = None,
    *,
    pyodide: str | Path | None = None,
    told: Told = lambda _: None,
) -> Path:
    """Write a static site with the live explorer into a folder; return the folder.

    Any server of files serves it. A page of it asks that server for its own files, and nobody for anything else.

    Parameters
    ----------
    place:
        The folder; files of the same names in it are replaced, others stay. One whose first page is somebody else's is refused.
    scenario:
        What the explorer begins with; by default 8 nodes of DL1, through host memory.
    pyodide:
        The npm package of Pyodide that somebody downloaded; None: the npm client gets it.
    told:
        Hears what is being done.

    Raises
    ------
    ExportError
        If a file cannot be written, Pyodide cannot be had, or the page has no control for a field of the scenario.

    There is no example here that runs: the npm client would ask a registry.
    """
    if not isinstance(place, str | Path):
        raise ExportError(f"place: give a folder, not {place!r:.60}")
    folder = Path(place).expanduser()
    # Refused before anything is loaded or written.
    _check_fields(scenario)
    with new_folder(folder, ExportError):
        check_place(folder / "index.html", ExportError)
        _check_ours(folder)
        begins, files = _prepared(scenario, pyodide, told)
        told("pages")
        pages = {
            "explorer.html": live_page(begins, files, carried=False),
            "live_worker.js": sources.script_of("live_worker"),
            **{page.name: page.make() for page in RECORDED},
        }
        told("labs")
        labs, listed = lab_pages(files)
        pages |= labs
        explorer = [pages[name].encode() for name in ("explorer.html", "live_worker.js")]
        # Last, as it says what the others weigh.
        pages["index.html"] = _landing(
            _on_the_usual_path(begins),
            listed,
            [*(data for name, data in files.items() if name != "labs.zip"), *explorer],
        )
        # All is made before anything is written, and each file is whole or not there: a site that is served
        # meanwhile shows no half of one.
        for name, data in files.items():
            with written(folder / name, ExportError) as file:
                file.write_bytes(data)
        for name, text in pages.items():
            with written(folder / name, ExportError) as file:
                put_on_disk(file, text)
    return folder


def write_live_page(
    place: str | Path,
    scenario: Scenario | None = None,
    *,
    pyodide: str | Path | None = None,
    told: Told = lambda _: None,
) -> Path:
    """Write one HTML file with the live explorer and all that it needs; it opens without a server.

    Raises
    ------
    ExportError
        If the file cannot be written, Pyodide cannot be had, or the page has no control for a field of the scenario.
    """
    _check_fields(scenario)
    check_place(place, ExportError)
    begins, files = _prepared(scenario, pyodide, told)
    told("page")
    with written(place, ExportError) as file:
        put_on_disk(file, live_page(begins, files, carried=True))
    return Path(place)


def _prepared(
    scenario: Scenario | None, pyodide: str | Path | None, told: Told
) -> tuple[Scenario, dict[str, bytes]]:
    told(f"Pyodide {VERSION}")
    files = pyodide_files(None if pyodide is None else Path(pyodide).expanduser())
    told("peerlab for the tab")
    return scenario or Scenario(), files | python_archives(files)


def _check_ours(folder: Path) -> None:
    """Refuse a folder with another site: its first page would be lost."""
    first = folder / "index.html"
    with in_words(f"cannot read {first}", ExportError):
        if not first.is_file():
            return
        with first.open("rb") as page:
            begins = page.read(_HEAD_BYTES)
    if f"<title>{escape(TITLE)}</title>".encode() not in begins:
        raise ExportError(
            f"cannot write {one_line(folder)}: its index.html is not peerlab's; give another folder"
        )


def _check_fields(scenario: Scenario | None) -> None:
    """Refuse what the page could neither show nor change."""
    for field in fields(scenario) if scenario else ():
        names = [*SHOWN, *linkable()]
        if field.init and field.name not in names and getattr(scenario, field.name) != field.default:
            raise ExportError(f"{field.name}: the live page has no control for it; it has {', '.join(names)}")
    if scenario and scenario.cluster not in known_clusters():
        raise ExportError(
            f"cluster: {one_line(scenario.cluster)} is a file; the live page has the clusters that come with peerlab"
        )


def _on_the_usual_path(begins: Scenario) -> Scenario:
    """Return what the first page draws: the detour, whichever path the explorer begins with, unless its settings allow no other."""
    try:
        return begins.with_(path=begins.hardware.paths[0])
    except ScenarioError:
        return begins


def _landing(scenario: Scenario, labs: Sequence[tuple[str, str, str]], loaded: Sequence[bytes]) -> str:
    """Return the first page; `loaded` is all that the explorer asks for, which servers compress."""
    run = simulate(scenario)
    both = both_sides(run)
    runs = [both.slow, both.fast] if both else [run]
    text = (Path(__file__).with_name("landing.html")).read_text(encoding="utf-8")
    words = {
        "title": escape(TITLE),
        "picture": landing_picture(runs),
        "version": escape(__version__),
        "pyodide": VERSION,
        "tour": _tour(labs),
        "compared": f"<figcaption>{escape(_compared(both.band))}</figcaption>" if both and both.band else "",
        "recorded": "".join(
            f"<li><a href='{page.name}'>{escape(page.asks)}</a><span>{escape(page.shows)}</span></li>"
            for page in RECORDED
        ),
        "labs": "".join(map(_lab_line, labs)),
        # Each file by itself, as a server compresses it.
        "size": f"{sum(len(compress(part)) for part in loaded) / 1e6:.1f} MB",
    }
    return Template(text).substitute(words)


def _compared(band: GainBand) -> str:
    """Return what the detour costs, with how sure that is."""
    return (
        f"Peer Direct is {say_gain(band.low, band.high)} as fast, {band.value:.2f}{TIMES_SIGN} as simulated"
    )


def _tour(labs: Sequence[tuple[str, str, str]]) -> str:
    """Return the link to the first lab that is a page."""
    pages = [page for _, page, why_not in labs if not why_not]
    return f"<a href='{pages[0]}'>Begin with the first lab</a>" if pages else ""


def _lab_line(lab: tuple[str, str, str]) -> str:
    title, page, why_not = lab
    if not why_not:
        return f"<li><a href='{page}'>{escape(title)}</a></li>"
    return f"<li><b>{escape(title)}</b><span>{escape(why_not)} It needs <a href='{page}' download>the notebook</a>.</span></li>"
