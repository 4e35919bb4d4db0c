"""The doctor's report in a notebook, as its reader meets it."""

import pytest
from axe_faults import axe_faults
from driver import Notebook
from playwright.sync_api import expect

from peerlab.features.doctor.report import CHECKS

CELL = """
import sys, tempfile
from pathlib import Path
sys.path.insert(0, {tests!r})
from fake_host import FakeHost
fake = FakeHost(Path(tempfile.mkdtemp()))
fake.write("sys/class/net/eth1/mtu", "1500")
fake.remove("proc/driver/nvidia/version")
fake.environment["NCCL_IB_DISABLE"] = "1"
import peerlab
peerlab.doctor(host=fake.host())
"""


@pytest.fixture(scope="module")
def page(lab, desk, root):
    name = lab.write("doctor.ipynb", CELL.format(tests=str(root / "tests")))
    notebook = Notebook(desk, lab, name)
    notebook.run_all()
    notebook.page.wait_for_selector(".pl-doctor table")
    yield notebook.page
    assert notebook.outside_requests() == []
    assert notebook.complaints == []
    notebook.close()
    lab.end(name)


def show(page, theme):
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })",
        f"JupyterLab {theme}",
    )
    page.wait_for_function(
        "light => document.body.dataset.jpThemeLight === light", arg="true" if theme == "Light" else "false"
    )


def test_the_verdict_and_every_check_are_shown_in_words_and_fit_for_all_eyes(page):
    report = page.locator(".pl-doctor")
    assert report.get_by_role("heading").inner_text() == "Can this host do peer direct?"
    assert report.locator(".pl-verdict").inner_text().split("\n")[0] == "✕ No: NCCL_IB_DISABLE=1."
    assert report.locator("tbody tr").count() == len(CHECKS)
    words = report.locator(
        "tbody tr td:first-child"
    ).all_text_contents()  # also of checks that passed, which are folded
    assert {word.split()[1] for word in words} == {"pass", "warn", "fail", "unknown"}
    papers = set()
    for theme in ("Dark", "Light"):
        show(page, theme)
        papers.add(report.evaluate("section => getComputedStyle(section).backgroundColor"))
        assert axe_faults(page, ".pl-doctor") == []
    assert papers == {"rgb(17, 17, 17)", "rgb(255, 255, 255)"}


def test_rule_and_source_open_with_the_keyboard(page):
    row = page.locator(".pl-doctor tr", has_text="mtu").first
    row.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(row.locator("dl")).to_contain_text("at least 4200 B")
