"""What a page shows as words, and where: in the document, in SVG, and on canvases as Bokeh paints them.

`watch` a page before it draws; then `faults` says which words lie on each other, leave their picture, are cut off or are too small.
"""

from contextlib import contextmanager
from pathlib import Path

from blank import Blank, run

_SCRIPT = Path(__file__).parent / "words_drawn.js"
SIZES = ((1280, 720), (1920, 1080), (900, 700))
"""Windows in which every view is read."""
LEAST = 12.0
"""Pixels of the smallest word."""


def watch(page):
    """Note what is drawn on the canvases of a page; to be called before it opens, and works for what it opens later, too."""
    page.add_init_script(path=_SCRIPT)
    page.evaluate(_SCRIPT.read_text(encoding="utf-8"))


@contextmanager
def watched_explorer(browser):
    """Open the explorer without a kernel, on a page whose words are noted; yield it, and see that it complained of nothing."""
    page = browser.new_page()
    watch(page)
    explorer = Blank(page)
    watch(page)  # the blank page is a new document
    explorer.open(run())
    yield explorer
    assert explorer.complaints == []
    page.close()


def settle(page):
    """Wait until what was changed last is painted; a page behind another one would be painted once a second."""
    page.bring_to_front()
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def is_cut(page, part):
    """Return whether what a part of a page holds is wider than it."""
    return page.locator(part).evaluate("part => part.scrollWidth > part.clientWidth")


def settle_drawings(page):
    """Wait until drawings have their size in a window that was changed: on a busy machine that takes some frames."""
    page.bring_to_front()
    page.evaluate(
        """() => new Promise(done => {
             const sizes = () => [...document.querySelectorAll('svg')].map(svg => [svg.getAttribute('viewBox'), svg.clientWidth, svg.clientHeight]).join();
             let before = '', alike = 0;
             const look = () => {
               const now = sizes();
               alike = now === before ? alike + 1 : 0;
               before = now;
               if (alike < 3) requestAnimationFrame(look); else done();
             };
             requestAnimationFrame(look);
           })"""
    )


def faults(page, within="body", *, marks="", least=LEAST):
    """Return in words what is wrong with the words in a part of a page; `marks` finds boxes and lines that no word may lie on."""
    return page.evaluate("asked => wordsDrawn.faults(...asked)", [within, marks, least])
