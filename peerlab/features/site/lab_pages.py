"""The labs as pages of the site: each an article whose cards are judged by the Python of the tab."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from peerlab import page as sources
from peerlab.base.feature import registered
from peerlab.base.places import folder
from peerlab.features.site.pyodide_package import lock_of
from peerlab.features.site.tab_fields import fields_of
from peerlab.picture.policy import inline, policy
from peerlab.picture.theme import properties
from peerlab.question.scenario import Scenario

# Small, as Python in a tab is about ten times as slow.
_START = {"nodes": 2, "message_bytes": 2**16}
"""What the Python of a lab begins with: something that is simulated at once."""


def lab_pages(files: Mapping[str, bytes]) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """Return the pages of the labs by their names, and of every lab its title, its page and, where it is the notebook itself, why.

    `files` are those of Pyodide.

    Raises
    ------
    PeerlabError
        If a cell of a lab fails.
    """
    articles_of = registered("offers", "articles of the labs")
    with _empty_folder():  # labs write files of their own
        articles = articles_of(folder("labs"), _link)
    # A lab that needs the machine itself has no page: it lies there as a notebook, and the list says so.
    made = [article for article in articles if not article.why_not]
    pages = {
        f"lab-{article.number}.html": _page(article, files, following)
        for article, following in zip(made, [*made[1:], None], strict=False)
    }
    notebooks = {file.name[:2]: file for file in folder("labs").glob("[0-9][0-9]_*.ipynb")}
    without = [notebooks[article.number] for article in articles if article.why_not]
    pages |= {file.name: file.read_text(encoding="utf-8") for file in without}
    listed = [
        (
            f"{article.number} {article.title}",
            notebooks[article.number].name if article.why_not else f"lab-{article.number}.html",
            article.why_not,
        )
        for article in articles
    ]
    return pages, listed


@contextmanager
def _empty_folder() -> Iterator[None]:
    before = Path.cwd()
    with TemporaryDirectory() as place:
        os.chdir(place)
        try:
            yield
        finally:
            os.chdir(before)


def _link(scenario: Scenario) -> str:
    return f"explorer.html#{urlencode(fields_of(scenario))}"


class _Framed(HTMLParser):
    """Finds the pages that stand in frames of a page, and the scripts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.pages: list[str] = []
        self.scripts: list[str] = []
        self._inside = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """Keep the page of a frame, and begin a script that runs."""
        if tag == "iframe":
            self.pages += [text for name, text in attrs if name == "srcdoc" and text]
        self._inside = tag == "script" and dict(attrs).get("type") in (None, "module")
        if self._inside:
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        """Keep what a script holds; a long one comes in pieces."""
        if self._inside:
            self.scripts[-1] += data

    def handle_endtag(self, tag: str) -> None:
        """End a script."""
        self._inside = self._inside and tag != "script"


def _framed_scripts(article: str) -> list[str]:
    """Return the scripts of pages in frames: such a frame has the rules of the page around it, beside its own."""
    scripts = (script for page in _Framed(article).pages for script in _Framed(page).scripts)
    return list(dict.fromkeys(scripts))


def _page(article: Any, files: Mapping[str, bytes], following: Any) -> str:
    script = inline(sources.script_of("lesson_page"))
    options = {
        "cards": article.cards,
        "start": {"lock": lock_of(dict(files)), "first": _START, "more": ["labs.zip"]},
    }
    # An end of the element that holds it must not stand in its text.
    held = json.dumps(options).replace("<", "\\u003c")
    after = (
        f"<p class='pl-next'><a href='lab-{following.number}.html'>Next: {escape(following.title)}</a></p>"
        if following
        else ""
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{policy(script, *_framed_scripts(article.html), wasm="'self'", frames=True)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(article.title)} (peerlab)</title>
<style>{properties(".pl-page")}{sources.style("lesson_page")}</style>
</head>
<body>
<div class="pl-page">
<header class="pl-top"><a href="index.html">All labs</a><a href="explorer.html">Live explorer</a><span class="pl-progress"></span></header>
<main>
<details class="pl-note"><summary>How this page works</summary><p>What the cells of the lab show stands here already, answers are judged in this tab, and your progress stays in this browser. Where the text speaks of switches and keys, play the picture; what it calls <i>More</i> is the notebook's.</p></details>
{article.html}
{after}
</main>
</div>
<script type="application/json" id="pl-lab">{held}</script>
<script type="module">{script}</script>
</body>
</html>
"""
