"""What is installed, and that the files which say so agree."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import metadata

import pytest
import yaml
from packaging.specifiers import SpecifierSet


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


def locked(root, name):
    """Return package to version of a lock file."""
    text = (root / "requirements" / name).read_text()
    return dict(re.findall(r"^([a-z0-9][\w.-]*)==(\S+) \\$", text, re.MULTILINE))


def names(requirements):
    return {re.match(r"[\w-]+", one)[0].lower() for one in requirements}


@pytest.mark.parametrize("name", ["lab.txt", "test.txt"])
def test_locks_have_a_hash_for_everything_and_no_address(root, name):
    text = (root / "requirements" / name).read_text()
    assert "://" not in text
    assert "index-url" not in text
    assert "find-links" not in text
    pins = len(locked(root, name))
    assert pins > 20
    assert len(re.findall(r"^\S+==\S+ \\\n\s+--hash=sha256:", text, re.MULTILINE)) == pins
    assert not re.search(r"^[a-zA-Z][^=\n]*$", text, re.MULTILINE)  # nothing unpinned


def test_the_locks_hold_what_the_project_asks_for(root, project):
    lab = names([*project["dependencies"], *project["optional-dependencies"]["lab"]])
    assert lab <= set(locked(root, "lab.txt"))
    assert names(project["optional-dependencies"]["test"]) - {"peerlab"} <= set(locked(root, "test.txt"))
    both = locked(root, "lab.txt").keys() & locked(root, "test.txt").keys()
    assert all(locked(root, "lab.txt")[name] == locked(root, "test.txt")[name] for name in both)


@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0", "3.14.0"])
def test_what_is_locked_runs_on_the_first_python_of_each_kind(root, python):
    """Debian 12 has 3.11.2, and will keep it."""
    needs = {name: metadata(name).get("Requires-Python", "") for name in locked(root, "test.txt")}
    assert {name: need for name, need in needs.items() if python not in SpecifierSet(need)} == {}


def test_conda_and_binder_install_what_the_lock_says(root, project):
    text = (root / "environment.yml").read_bytes()
    assert (root / "binder" / "environment.yml").read_bytes() == text
    wanted = yaml.safe_load(text)["dependencies"]
    pins = dict(one.split("=") for one in wanted if "=" in one)
    python = pins.pop("python")
    assert re.fullmatch(r"3\.1[1234]", python)
    assert project["requires-python"] == ">=3.11,<3.15"
    needed = names([*project["dependencies"], *project["optional-dependencies"]["lab"]]) | {"hatchling"}
    assert pins.keys() == needed
    assert pins == {name: locked(root, "lab.txt")[name] for name in needed}
    assert {one for one in wanted if "=" not in one} == {"pip"}
    post = root / "binder" / "postBuild"
    assert post.stat().st_mode & 0o111
    assert "pip install --no-deps --no-build-isolation ." in post.read_text()


def test_the_wheel_works_from_another_folder_with_data_and_labs(root, tmp_path):
    source = tmp_path / "source"
    ignore = shutil.ignore_patterns(
        ".venv", ".git", "__pycache__", ".*_cache", ".hypothesis", "docs", "tests"
    )
    shutil.copytree(root, source, ignore=ignore)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--no-input"]
    build = ["wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", tmp_path, source]
    subprocess.run([*pip, *build], check=True, timeout=120)
    (wheel,) = tmp_path.glob("peerlab-*.whl")
    site = tmp_path / "site"
    subprocess.run(
        [*pip, "install", "--no-deps", "--no-index", "--target", site, wheel], check=True, timeout=120
    )
    shutil.rmtree(source)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    script = """
import json, peerlab
from peerlab.app.explore import explore
from peerlab.features.lab import server
from peerlab.base.places import folder
run = peerlab.simulate(peerlab.Scenario())
print(json.dumps([peerlab.__file__, peerlab.known_clusters(), run.time_s, (folder("labs") / "00_tour.ipynb").is_file(),
                  "class Page" in explore().figures._esm, (server._SETTINGS / "overrides.json").is_file()]))
"""
    env = {"PYTHONPATH": str(site), "HOME": str(elsewhere), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=elsewhere, env=env, capture_output=True, text=True, check=True
    )
    file, clusters, time_s, *there = json.loads(done.stdout)
    assert file.startswith(str(site))
    assert {"dl1", "ideal-100g"} <= set(clusters)
    assert 1e-3 < time_s < 1
    assert there == [True, True, True]


def test_the_version_stands_in_one_voice(root, project):
    import peerlab

    assert peerlab.__version__ == project["version"]
    assert f"## {project['version']}" in (root / "CHANGELOG.md").read_text()
