"""The trainer's papers as they are printed and projected: answers on one page, tasks and their sheet on one each, every slide within its room."""

import re
import sys

import pytest
from page_that_plays import resize

FITS = """one => one.scrollHeight <= one.clientHeight && one.scrollWidth <= one.clientWidth
  && [...one.querySelectorAll('.card')].every(card => card.scrollHeight <= card.clientHeight + 1 && card.scrollWidth <= card.clientWidth + 1)
  && !one.matches('.tight')"""


@pytest.fixture(scope="module")
def papers(root, tmp_path_factory):
    sys.path[:0] = [str(root / "docs"), str(root / "docs" / "course")]
    import course

    folder = tmp_path_factory.mktemp("papers")
    course.main(["--to", str(folder)])
    return folder


@pytest.mark.long("printed pages")
@pytest.mark.parametrize(("name", "pages"), [("answers", 1), ("tasks", 2)])
def test_a_paper_is_as_many_pages_as_it_says(papers, browser, name, pages):
    """The answers were two pages once, while a count of letters said that they are one."""
    page = browser.new_page()
    page.goto((papers / f"{name}.html").as_uri())
    printed = page.pdf(prefer_css_page_size=True)
    page.close()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == pages


def test_every_slide_has_room_for_its_words(papers, browser):
    page = browser.new_page()
    resize(page, 1280, 720)
    page.goto((papers / "slides.html").as_uri())
    page.wait_for_function("() => Reveal.isReady()")
    full = []
    for at in range(page.evaluate("Reveal.getTotalSlides()")):
        page.evaluate("at => Reveal.slide(at)", at)
        if not page.locator("section.present .sheet").evaluate(FITS):
            full.append(at + 1)
    page.close()
    assert full == []
