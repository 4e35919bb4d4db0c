"""Pictures of the explorer in a real JupyterLab."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from driver import Explorer, Notebook, chromium
from server import Lab, laboratory

EXPLORE = "import peerlab\npeerlab.explore()"
SLIDE = (1536, 864)
SLIDE_SCALE = 1.25
"""Of the device: the picture of a slide is 1920 by 1080, with words that a room can read."""


def take(target: Path, width: int, height: int) -> None:
    """Take the story in both themes, in a window of this size."""
    with laboratory() as lab:
        for theme in ("light", "dark"):
            with explorer(lab, width, height, theme) as one:
                story(one, lambda name, end=f"{theme}-{width}": save(one, target / f"{name}-{end}.png"))


def slide(target: Path) -> None:
    """Take Peer Direct as it covers a slide."""
    with laboratory() as lab, explorer(lab, *SLIDE, "light", scale=SLIDE_SCALE) as one:
        one.change(lambda: one.switch("host"))
        fill(one)
        await_bands(one)
        one.still(0.43)
        one.page.wait_for_timeout(3500)  # the pointer rests
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
def explorer(
    lab: Lab, width: int, height: int, theme: str, code: str = EXPLORE, scale: float = 1
) -> Iterator[Explorer]:
    """Open an explorer in a window of this size; close it with its kernel."""
    with opened(lab, width, height, theme, code, scale=scale) as notebook:
        one = Explorer(notebook)
        notebook.page.wait_for_selector(f".pl-root[data-theme={theme}]")
        yield one


@contextmanager
def opened(
    lab: Lab, width: int, height: int, theme: str, *cells: str, name: str = "", scale: float = 1
) -> Iterator[Notebook]:
    """Open a notebook of these cells, or the one of this name, and run it; close it with its kernel."""
    with chromium(width, height, scale) as browser:
        page = browser.new_page()
        name = name or lab.write(f"shot-{theme}-{width}x{height}.ipynb", *cells)
        notebook = Notebook(page, lab, name)
        page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })",
            f"JupyterLab {theme.title()}",
        )
        page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
        if cells:
            notebook.run_all()
        yield notebook
        page.evaluate("() => window.jupyterapp.commands.execute('kernelmenu:shutdown')")


def save(one: Explorer, path: Path) -> None:
    """Save the explorer, paused in the middle of the run."""
    await_bands(one)
    one.still(0.43)
    one.page.mouse.move(0, 0)
    one.page.wait_for_timeout(400)
    one.page.locator(".pl-explorer").screenshot(path=path)


def await_bands(one: Explorer) -> None:
    """Wait until the curves have all their bands and the gain its range; that they are old is told after a moment."""
    one.page.wait_for_timeout(700)
    one.page.wait_for_function(
        """() => { const { model } = [...window.peerlabPages].at(-1);
             return model.get("curves").state === "whole" && !model.get("ratio")?.pending }""",
        timeout=120_000,
    )


def fill(one: Explorer) -> None:
    """Let the explorer cover the window, as on a slide."""
    one.page.locator(".pl-explorer").evaluate(
        """root => { document.body.append(root); Object.assign(root.style, { position: 'fixed', inset: '0', zIndex: 10000,
             padding: '28px 36px 0', background: 'var(--jp-layout-color0)', boxSizing: 'border-box', overflow: 'hidden' }) }"""
    )
    one.page.wait_for_timeout(400)
