"""Pictures of notebooks in a real JupyterLab: labs as they open, reports, an exercise, measurements."""

from collections.abc import Callable
from pathlib import Path

from explorer import await_bands, explorer, laboratory, opened
from playwright.sync_api import Locator
from server import Lab
from tool_logs import ALPS

CELLS = {
    "still": "import peerlab\npeerlab.simulate(peerlab.Scenario(nodes=8, path='peer-direct'))",
    "diagnosis": "peerlab.diagnose(peerlab.load(log))",
    "steps": "peerlab.steps('ring', ranks=4)",
    "ratios": "peerlab.ratios(measured_library()['own/xeon-2-processors'])",
    "exercise": "peerlab.exercise('01-gain')",
    "doctor": "peerlab.doctor(host=fake.host())",
}
SET_UP = """
import sys, tempfile
from pathlib import Path
sys.path.insert(0, {tests!r})
from fake_host import FakeHost
from tool_logs import ALPS as log
fake = FakeHost(Path(tempfile.mkdtemp()))
fake.write("sys/class/net/eth1/mtu", "1500")
fake.environment["NCCL_IB_DISABLE"] = "1"
import peerlab
from peerlab.records.library import measured_library
"""
TESTS = Path(__file__).parent.parent.parent / "tests"


def answer_wrongly(cell: Locator) -> None:
    """Answer the exercise with a typical mistake."""
    field = cell.locator(".pl-exercise input").first
    field.fill("0.56")
    field.press("Enter")
    cell.locator(".pl-no").wait_for()


ACTS: dict[str, Callable[[Locator], None]] = {
    "exercise": answer_wrongly,
    "steps": lambda cell: cell.locator(".pl-steps label[for$='-2']").first.click(),
}
"""What is done in a cell before its picture is taken."""


def take(target: Path) -> None:
    """Take all of them."""
    with laboratory() as lab:
        tour(lab, target)
        reports(lab, target)
        evidence(lab, target)


def tour(lab: Lab, target: Path) -> None:
    """Take the tour as it opens."""
    with opened(lab, 1280, 900, "light", name="00_tour.ipynb") as notebook:
        notebook.page.wait_for_timeout(1500)
        notebook.page.screenshot(path=target / "tour-before-running.png")


def reports(lab: Lab, target: Path) -> None:
    """Take what cells show: a run, a diagnosis, an exercise answered wrongly, the doctor on an invented host."""
    cells = [SET_UP.format(tests=str(TESTS)), *CELLS.values()]
    with opened(lab, 1280, 2100, "light", *cells) as notebook:
        page = notebook.page
        outputs = page.locator(".jp-CodeCell")
        for place, name in enumerate(CELLS, 1):
            cell = outputs.nth(place)
            cell.scroll_into_view_if_needed()
            if name in ACTS:
                ACTS[name](cell)
            page.wait_for_timeout(500)
            what = ".pl-exercise" if name == "exercise" else ".jp-OutputArea-output"
            cell.locator(what).first.screenshot(path=target / f"{name}.png")


def evidence(lab: Lab, target: Path) -> None:
    """Take a log of one's own on the curves, and this machine measured."""
    with explorer(lab, 1280, 2100, "light") as one:
        one.page.locator(".pl-log-button").last.click()
        one.page.locator(".pl-log-text textarea").last.fill(ALPS)
        one.change(one.page.locator(".pl-log-read").last.click)
        one.page.locator(".pl-log-short p", has_text="your log").last.wait_for()
        await_bands(one)
        one.still(0.43)
        one.page.wait_for_timeout(600)
        one.page.locator(".pl-explorer").screenshot(path=target / "your-log.png")
        one.page.locator(".pl-log-away").last.click()
        one.page.locator(".pl-log-button").last.click()
        one.page.locator(".pl-tab[data-axis=here]").last.click()
        one.page.locator(".pl-here .pl-action").nth(-3).click()
        one.page.wait_for_function(
            "() => [...window.peerlabPages].at(-1).model.get('measured').here.action === 'Measure again'",
            timeout=120_000,
        )
        one.page.wait_for_timeout(600)
        one.page.locator(".pl-lower > *").last.screenshot(path=target / "this-machine.png")
