"""A deck as one page: reveal.js, pictures and words in it, nothing asked of any network."""

from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from peerlab.base.version import __version__
from peerlab.features.deck.blocks import key
from peerlab.features.deck.reading.lead import Lead
from peerlab.features.deck.slide import Slide
from peerlab.picture.theme import palettes

_HERE = Path(__file__).parent
_START = """
const tell = (slide, word) => slide?.querySelectorAll("iframe").forEach((frame) => frame.contentWindow.postMessage(word, "*"));
Reveal.initialize({ width: 1280, height: 720, margin: 0, center: false, hash: true, transition: "none", controlsTutorial: false, controlsBackArrows: "visible",
  pdfSeparateFragments: false, pdfMaxPagesPerSlide: 1, plugins: [RevealNotes] });
Reveal.on("ready", () => document.querySelectorAll("section iframe").forEach((frame) => {
  const begin = () => frame.contentWindow.postMessage(frame.closest("section") === Reveal.getCurrentSlide() ? "slide:start" : "slide:stop", "*");
  frame.addEventListener("load", begin);
  begin();
}));
if (location.search.includes("print-pdf")) {
  const stand = (frame) => {
    const { document: inside, peerlabPages } = frame.contentWindow ?? {}, pages = [...peerlabPages ?? []];
    if (!pages[0]?.player || inside.documentElement.dataset.ready !== "yes") return false;
    for (const page of pages) { page.wanted.theme = "light"; page.setTheme("light"); }
    pages[0].player.seek(frame.dataset.still * pages[0].player.length);
    return true;
  };
  const stands = (frame) => { if (stand(frame)) frame.dataset.stands = "yes"; else setTimeout(stands, 50, frame); };
  Reveal.on("pdf-ready", () => document.querySelectorAll("iframe[data-still]").forEach(stands)); // moved by now, which loads them anew
}
const full = (one) => one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1;
const holds = (sheet) => ![sheet, ...sheet.querySelectorAll(".grid, .card")].some(full);
const fit = (section) => section?.querySelectorAll(".sheet").forEach((sheet) => ["close", "tight"].forEach((how) => holds(sheet) || sheet.classList.add(how)));
Reveal.on("ready", ({ currentSlide }) => fit(currentSlide));
Reveal.on("slidechanged", ({ currentSlide }) => fit(currentSlide));
Reveal.on("pdf-ready", () => fit(document));
addEventListener("message", ({ data }) => data?.peerlab === "key" && Reveal.triggerKey(data.keyCode));
Reveal.on("slidechanged", ({ previousSlide, currentSlide }) => { tell(previousSlide, "slide:stop"); tell(currentSlide, "slide:start"); });
"""
"""What plays is told when its slide comes and when it goes; the keys that it does not use turn slides. Words without room are set closer, and only then smaller."""


def page(title: str, slides: Sequence[Slide], *, theme: str = "light", lead: Lead | None = None) -> str:
    """Return the deck as HTML that opens from a file; all text is escaped.

    Its policy lets nothing be fetched; only the speaker's view shows this very page again, in frames. Scripts are allowed
    without their hashes, because a live slide inherits the policy and brings scripts of its own, which its own policy names.
    """
    told = lead or Lead()
    sections = "".join(_section(slide, number, len(slides), told) for number, slide in enumerate(slides, 1))
    # Ours last, so that it overrides what reveal.js brings.
    style = _colours(theme) + _vendored("reveal.css") + (_HERE / "deck.css").read_text(encoding="utf-8")
    scripts = "".join(
        f"<script>{code}</script>" for code in (_vendored("reveal.js"), _vendored("notes.js"), _START)
    )
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; script-src 'unsafe-inline';"
        " style-src 'unsafe-inline'; img-src data:; frame-src 'self' file:; base-uri 'none'; form-action 'none'\">"
        f"<meta name='viewport' content='width=device-width,initial-scale=1'><title>{escape(title)}</title>"
        f"<style>{style}</style></head><body><div class='reveal'><div class='slides'>{sections}</div></div>{scripts}</body></html>\n"
    )


def _colours(theme: str) -> str:
    """Return the colours of a theme as properties; print is always light."""
    light, dark = (
        f"{{color-scheme:{name};{''.join(f'--pl-{role}:{colour};' for role, colour in of.items())}}}"
        for name, of in palettes().items()
    )
    if theme == "light":
        # Without a medium: what is printed has these colours in any theme.
        return f":root{light}"
    screen = f":root:not(.print-pdf){dark}"
    return f":root{light}@media screen{' and (prefers-color-scheme:dark)' * (theme == 'auto')}{{{screen}}}"


def _section(slide: Slide, number: int, count: int, lead: Lead) -> str:
    heading = "h1" if slide.cover else "h2"
    pictures = "".join(f"<figure>{picture}</figure>" for picture in slide.pictures)
    lines = "".join(f"<p>{escape(line)}</p>" for line in slide.lines)
    notes = "".join(f"<p>{escape(note)}</p>" for note in slide.notes)
    above = "".join(f"<p class='own'>{escape(line)}</p>" for line in slide.own)
    sub = f"<div class='sub'>{escape(slide.subtitle)}{key(*slide.key)}</div>" if slide.subtitle else ""
    head = f"<{heading}>{escape(slide.title)}</{heading}>"
    parts = (
        (_said_by(lead) if slide.cover else ""),
        head, sub, _live(slide), above, pictures, _table(slide.rows), slide.body,
        f"<div class='lines'>{lines}</div>" if lines else "",
    )  # fmt: skip
    # On the first slide they stand at its head.
    names = escape(" · ".join(name for name in (lead.author, lead.date) if name and not slide.cover))
    source = escape(slide.source or f"Simulated by peerlab {__version__}")
    return (  # the sheet has the margins: reveal.js takes a section's away in print
        f"<section><div class='sheet {_kind(slide)}'>{''.join(parts)}</div>"
        f"<footer><span>{source}</span><span>{names}{' · ' * bool(names)}{number} of {count}</span></footer>"
        f"<aside class='notes'>{notes}</aside></section>"
    )


def _said_by(lead: Lead) -> str:
    """Return who presents it, and when, with a logo; nothing where nobody said so."""
    logo = f"<img src='{escape(lead.logo, quote=True)}' alt='logo'>" if lead.logo else ""
    names = "<br>".join(escape(name) for name in (lead.author, lead.date) if name)
    return f"<div class='lead'><span>{names}</span>{logo}</div>" if logo or names else ""


def _live(slide: Slide) -> str:
    if not slide.live:
        return ""
    named = escape(slide.title, quote=True)
    return f"<iframe title='{named}' data-still='{slide.still:.6g}' srcdoc='{escape(slide.live, quote=True)}'></iframe>"


def _kind(slide: Slide) -> str:
    """Return how a slide is set: words alone are large, unless there are many."""
    if slide.live:
        return "live titled" if slide.titled else "live"
    if slide.pictures or slide.rows or slide.body:
        return "cover figure" if slide.cover else "figure"
    if len(slide.lines) > _MANY:
        return "long"
    sentences = (*slide.own, *slide.lines)
    return "words dense" if sum(map(len, sentences)) > _MUCH else "words"


_MANY = 6
"""Lines from which on a slide is set in smaller type and columns."""
_MUCH = 560
"""Letters from which on words are set a little smaller: about eight lines."""


def _table(rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    head, *body = rows
    heads = "".join(f"<th scope='col'>{escape(cell)}</th>" for cell in head)
    lines = "".join(
        f"<tr><th scope='row'>{escape(row[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>"
        for row in body
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


@cache
def _vendored(name: str) -> str:
    """Return a file of reveal.js, so that it can stand within a page."""
    # Else the first such text in a script would end its element.
    return (_HERE / "vendor" / name).read_text(encoding="utf-8").replace("</script", "<\\/script")
