"""The picture of `peerlab validate --plot`, as its reader meets it."""

import pytest

from peerlab.cli import main
from peerlab.features.validate.expected_page import write_page

ATTACK = (
    "</script><script>window.attacked = 1</script><img src='https://example.org/x' onerror='attacked = 1'>"
)
PAINTED = """canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(value => value)"""


@pytest.fixture
def read(browser):
    """Open a page from its file; return it with all that it asked for and complained about."""
    pages = []

    def open_(file):
        page, said = browser.new_page(), []
        pages.append(page)
        page.on("request", lambda request: said.append(request.url))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda line: said.append(line.text) if line.type in ("error", "warning") else None)
        page.goto(file.as_uri())
        page.wait_for_function("() => window.Bokeh?.documents[0]?.is_idle")
        assert page.title() == "peerlab: expected against simulated"
        return page, said

    yield open_
    for page in pages:
        page.close()


def test_the_picture_is_drawn_without_asking_anybody(read, tmp_path, capsys):
    file = tmp_path / "picture.html"
    assert main(["validate", "--only", "gaudi2", "--plot", str(file)]) == 0
    capsys.readouterr()
    page, said = read(file)
    assert page.locator("canvas").evaluate_all(f"all => all.filter({PAINTED}).length") >= 2
    assert said == [file.as_uri()]


def test_names_in_a_picture_are_text_and_no_other_script_runs(read, tmp_path):
    file = tmp_path / "picture.html"
    dot = {"expected": 1.0, "simulated": 1.0, "unit": "s", "error": 0.0}
    write_page([dot | dict.fromkeys(("group", "name", "says", "note"), ATTACK)], file)
    page, said = read(file)
    assert page.locator("p").inner_text() == f"{ATTACK}: {ATTACK}"
    assert said == [file.as_uri()]
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.attacked = 1";
        document.body.append(script);
        fetch("https://example.org/").catch(() => null);
    }""")
    assert page.evaluate("() => window.attacked") is None
    assert all("Content Security Policy" in line for line in said[1:])
    assert len(said) > 2
