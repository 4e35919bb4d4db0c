"""Takes the pictures of README and docs from the real thing: JupyterLab, a kernel, Chromium.

`make shots` writes docs/pictures/*.png. Pass a folder to write elsewhere.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "browser"))
from driver import TOKEN, Explorer, Lab, Notebook, chromium  # noqa: E402  (tests are not a package)

EXPLORE = "import peerlab\npeerlab.explore()"
SLIDE = (1920, 1080)


def main(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as private:
        lab = Lab(Path(private))
        try:
            take_all(lab, target)
        finally:
            lab.close()


def take_all(lab: Lab, target: Path) -> None:
    with chromium() as browser:
        page = browser.new_page()
        page.goto(f"{lab.url}/?token={TOKEN}")
        page.wait_for_selector(".jp-Notebook .jp-MarkdownCell.jp-mod-rendered")
        page.wait_for_timeout(1500)
        page.screenshot(path=target / "tour-before-running.png")
    for width, height in ((1280, 900), (1920, 1080)):
        for theme in ("light", "dark"):
            with explorer(lab, width, height, theme) as one:
                story(one, lambda name, end=f"{theme}-{width}": save(one, target / f"{name}-{end}.png"))
    with explorer(lab, *SLIDE, "light") as one:
        one.change(lambda: one.switch("host"))
        fill(one)
        await_bands(one)
        one.still(0.43)
        one.page.wait_for_timeout(300)
        one.page.screenshot(path=target / "slide-16x9.png")


def story(one: Explorer, take: Callable[[str], None]) -> None:
    """Show the detour, Peer Direct, Peer Direct without its cache, and Peer Direct with a slow node."""
    take("detour")
    one.change(lambda: one.switch("host"))
    take("peer-direct")
    one.change(lambda: one.switch("cache"))
    take("no-cache")
    one.change(lambda: one.switch("cache"))
    one.page.locator(".pl-more-button").last.click()
    one.change(lambda: one.select("slow", "node 0 at 50 %"))
    one.page.locator(".pl-more-button").last.click()
    take("slow-node")


@contextmanager
def explorer(lab: Lab, width: int, height: int, theme: str) -> Iterator[Explorer]:
    """Open an explorer in a window of this size; close it with its kernel."""
    with chromium(width, height) as browser:
        page = browser.new_page()
        notebook = Notebook(page, lab, lab.write(f"shot-{theme}-{width}x{height}.ipynb", EXPLORE))
        page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })",
            f"JupyterLab {theme.title()}",
        )
        page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
        notebook.run_all()
        one = Explorer(notebook)
        page.wait_for_selector(f".pl-root[data-theme={theme}]")
        yield one
        page.evaluate("() => window.jupyterapp.commands.execute('kernelmenu:shutdown')")


def save(one: Explorer, path: Path) -> None:
    """Save the explorer, paused in the middle of the run."""
    await_bands(one)
    one.still(0.43)
    one.page.mouse.move(0, 0)
    one.page.wait_for_timeout(400)
    one.page.locator(".pl-explorer").screenshot(path=path)


def await_bands(one: Explorer) -> None:
    """Wait until the curves have all their bands; that they are old is told after a moment."""
    one.page.wait_for_timeout(700)
    one.page.wait_for_function(
        """() => { const { old, bands } = [...window.peerlabPages].at(-1).curves.curves;
             return !old && !bands.includes("computing") }""",
        timeout=120_000,
    )


def fill(one: Explorer) -> None:
    """Let the explorer cover the window, as on a slide."""
    one.page.locator(".pl-explorer").evaluate(
        """root => { document.body.append(root); Object.assign(root.style, { position: 'fixed', inset: '0', zIndex: 10000,
             padding: '60px 36px 0', background: 'var(--jp-layout-color0)', boxSizing: 'border-box', overflow: 'hidden' }) }"""
    )
    one.page.wait_for_timeout(400)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures")
