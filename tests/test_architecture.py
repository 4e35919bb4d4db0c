"""The structure that DESIGN.md promises, checked."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path


def test_imports_point_down(root):
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([tool, "--no-cache"], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_module_has_a_layer_and_design_knows_it(root):
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layered = {
        name
        for one in contracts
        if one["type"] == "layers"
        for name in re.findall(r"peerlab\.(\w+)", str(one["layers"]))
    }
    code = {file.stem for file in (root / "peerlab").glob("*.py") if not file.stem.startswith("__")}
    code |= {file.parent.name for file in (root / "peerlab").glob("*/__init__.py")}
    assert layered == code
    table = (root / "DESIGN.md").read_text().partition("## Layers")[2].partition("## The ten decisions")[0]
    former = {"run"}  # a name of 0.1.0
    assert [name for name in sorted(code - former) if not re.search(rf"`{name}(/\w+)?`", table)] == []


def test_the_design_stays_short(root):
    """Reasons stand beside the code that they decide."""
    assert len((root / "DESIGN.md").read_bytes()) <= 25_000


HOMES = {
    "simpy": ("engine/referee/", "training/"),
    "bokeh": ("picture/", "features/validate/"),
    "ipywidgets": "app/",
    "anywidget": "app/",
    "dask": "features/sweep/",
    "distributed": "features/sweep/",
    "scipy": "features/calibrate/",
}
"""Whose folder may import a library by its name as text, which `lint-imports` does not see."""


def test_a_library_that_is_imported_by_name_is_at_home(root):
    strangers, met = [], set()
    for file in (root / "peerlab").rglob("*.py"):
        for library in re.findall(r"import_module\(\s*[\"'](\w+)", file.read_text()):
            met.add(library)
            if not file.relative_to(root / "peerlab").as_posix().startswith(HOMES.get(library, "")):
                strangers.append((file.name, library))
    assert strangers == []
    assert "distributed" in met  # else this would look at nothing


def test_importing_peerlab_loads_neither_pictures_nor_widgets_nor_simpy():
    script = """
import sys, peerlab
peerlab.simulate(peerlab.Scenario())
print([name for name in ("bokeh", "ipywidgets", "anywidget", "simpy", "IPython") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_lab_loads_no_panel_before_it_is_opened():
    """Its first picture waits for all that is loaded: tables, slides, readers of traces and what measures are not in it."""
    script = """
import sys, peerlab
lab = peerlab.explore()
late = ("pandas", "markdown_it", "ijson", "peerlab.training", "peerlab.features.deck.write_deck", "peerlab.features.expect.verdicts.judging")
print([name for name in late if name in sys.modules])
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
    assert done.stdout == "peerlab.explore needs ipywidgets: pip install 'peerlab[lab]'\n"


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
    script = "import sys, peerlab.features.measure.ranks.coordinator, peerlab.features.measure.ranks.worker; print('pandas' in sys.modules, 'scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
