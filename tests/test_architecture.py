"""The structure that DESIGN.md promises, checked."""

import subprocess
import sys
from pathlib import Path


def test_imports_point_down(root):
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([tool, "--no-cache"], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_importing_peerlab_loads_neither_pictures_nor_widgets_nor_simpy():
    script = """
import sys, peerlab
peerlab.simulate(peerlab.Scenario())
print([name for name in ("bokeh", "ipywidgets", "anywidget", "simpy", "IPython") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_without_the_lab_extra_the_error_says_what_to_install():
    script = """
import sys
sys.modules["ipywidgets"] = None
import peerlab
try:
    peerlab.explore()
except peerlab.PeerlabError as problem:
    print(problem)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "the lab needs ipywidgets: pip install 'peerlab[lab]'\n"


def test_every_public_name_says_what_it_is():
    import peerlab

    for name in peerlab.__all__:
        assert getattr(peerlab, name).__doc__, name


def test_no_page_asks_the_network(root):
    for file in (root / "peerlab").rglob("*"):
        if file.suffix in (".js", ".css") and file.parent.name != "vendor":  # a deck is watched in a browser
            text = file.read_text().replace("http://www.w3.org/2000/svg", "")
            assert "://" not in text, file


def test_the_processes_of_a_measurement_load_no_tables():
    """Several start at once, and nobody wants to wait for them."""
    script = "import sys, peerlab.measurement.coordinator, peerlab.measurement.worker; print('pandas' in sys.modules, 'scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
