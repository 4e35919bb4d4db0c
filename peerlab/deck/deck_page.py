"""A deck as one page: reveal.js, pictures and words in it, nothing asked of any network."""

from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path

from peerlab.deck.slide import Slide
from peerlab.version import __version__

_HERE = Path(__file__).parent
_START = """
const tell = (slide, word) => slide?.querySelectorAll("iframe").forEach((frame) => frame.contentWindow.postMessage(word, "*"));
Reveal.initialize({ width: 1280, height: 720, margin: 0, center: false, hash: true, transition: "none", controlsTutorial: false,
  pdfSeparateFragments: false, pdfMaxPagesPerSlide: 1, plugins: [RevealNotes] });
Reveal.on("ready", () => document.querySelectorAll("section iframe").forEach((frame) => {
  const begin = () => frame.contentWindow.postMessage(frame.closest("section") === Reveal.getCurrentSlide() ? "slide:start" : "slide:stop", "*");
  frame.addEventListener("load", begin);
  begin();
}));
addEventListener("message", ({ data }) => data?.peerlab === "key" && Reveal.triggerKey(data.keyCode));
Reveal.on("slidechanged", ({ previousSlide, currentSlide }) => { tell(previousSlide, "slide:stop"); tell(currentSlide, "slide:start"); });
"""
"""What plays is told when its slide comes and when it goes; the keys that it does not use turn slides."""


def page(title: str, slides: Sequence[Slide]) -> str:
    """Return the deck as HTML that opens from a file; all text is escaped.

    Its policy lets nothing be fetched; only the speaker's view shows this very page again, in frames. Scripts are allowed
    without their hashes, because a live slide inherits the policy and brings scripts of its own, which its own policy names.
    """
    sections = "".join(_section(slide) for slide in slides)
    style = _vendored("reveal.css") + (_HERE / "deck.css").read_text(encoding="utf-8")
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


def _section(slide: Slide) -> str:
    heading = "h1" if slide.cover else "h2"
    pictures = "".join(f"<figure>{picture}</figure>" for picture in slide.pictures)
    lines = "".join(f"<p>{escape(line)}</p>" for line in slide.lines)
    notes = "".join(f"<p>{escape(note)}</p>" for note in slide.notes)
    live = (
        f"<iframe title='{escape(slide.title, quote=True)}' srcdoc='{escape(slide.live, quote=True)}'></iframe>"
        if slide.live
        else ""
    )
    return (  # the sheet has the margins: reveal.js takes a section's away in print
        f"<section><div class='sheet {_kind(slide)}'><{heading}>{escape(slide.title)}</{heading}>{live}{pictures}{_table(slide.rows)}"
        f"<div class='lines'>{lines}</div></div><footer>simulated by peerlab {escape(__version__)}</footer>"
        f"<aside class='notes'>{notes}</aside></section>"
    )


def _kind(slide: Slide) -> str:
    """Return how a slide is set: words alone are large, unless there are many."""
    if slide.cover:
        return "cover"
    if slide.live:
        return "live"
    if slide.pictures or slide.rows:
        return "figure"
    if len(slide.lines) > _MANY:
        return "long"
    return "words dense" if sum(map(len, slide.lines)) > _MUCH else "words"


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
    return (_HERE / "vendor" / name).read_text(encoding="utf-8").replace("</script", "<\\/script")
