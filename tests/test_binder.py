"""What Binder would do with this repository: repo2docker's own plan, and the badge."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent.parent / "binder"))
import repository


def test_repo2docker_plans_the_conda_environment_and_then_the_package(root):
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", root]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    plan = done.stdout + done.stderr
    python = next(
        one.partition("=")[2]
        for one in yaml.safe_load((root / "binder" / "environment.yml").read_text())["dependencies"]
        if one.startswith("python=")
    )
    assert f"Building conda environment for python={python}" in plan
    steps = [
        'env update -p ${NB_PYTHON_PREFIX} --file "binder/environment.yml"',
        "COPY --chown=0:0 src/ ",
        "RUN ./binder/postBuild",
    ]
    places = [plan.find(step) for step in steps]
    assert -1 not in places
    assert places == sorted(places)
    assert plan.rfind("USER ${NB_USER}", 0, places[2]) > places[1]  # what it installs belongs to the user


@pytest.fixture
def copy(root, tmp_path):
    for name in repository.DOCUMENTS:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(root / name, tmp_path / name)
    return tmp_path


def fill_in(copy, name):
    command = [sys.executable, repository.__file__, name, "--root", copy]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def links(text):
    return re.findall(r"https://mybinder\.org/v2/[^\s)>]+", text)


def test_without_a_repository_three_lines_say_how_to_launch_and_no_link_is_dead(copy):
    repository.write(copy, None)
    readme = (copy / "README.md").read_text()
    told = readme.partition("<!-- binder")[2].partition("<!-- /binder")[0]
    assert re.findall(r"^\d\.", told, re.MULTILINE) == ["1.", "2.", "3."]
    assert "make binder REPO=owner/name" in told
    assert "students" in told
    for name in repository.DOCUMENTS:
        assert links((copy / name).read_text()) == []
        assert "OWNER" not in (copy / name).read_text()


def test_one_command_fills_the_repository_in_everywhere_and_again_another(copy, root):
    for name in ("somebody/labs", "uni-x/peer.lab_2"):
        done = fill_in(copy, name)
        assert done.returncode == 0, done.stderr
        for document in repository.DOCUMENTS:
            text = (copy / document).read_text()
            (found,) = links(text)
            address = urlparse(found)
            assert address.path == f"/v2/gh/{name}/HEAD"
            lab, tree, *path = parse_qs(address.query)["urlpath"][0].split("/")
            assert (lab, tree) == ("lab", "tree")
            assert root.joinpath(*path).name == "00_tour.ipynb"
            assert root.joinpath(*path).exists()
            assert "students" in text.partition("<!-- binder")[2].partition("<!-- /binder")[0]
    repository.write(copy, None)
    unset = [(copy / name).read_text() for name in repository.DOCUMENTS]
    fill_in(copy, "somebody/labs")
    repository.write(copy, None)
    assert [(copy / name).read_text() for name in repository.DOCUMENTS] == unset


@pytest.mark.parametrize("name", ["", "labs", "https://github.com/a/b", "a/b c", "a/b?x"])
def test_what_is_no_repository_is_refused_in_a_line_and_changes_nothing(copy, name):
    before = [(copy / one).read_text() for one in repository.DOCUMENTS]
    done = fill_in(copy, name)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "make binder REPO=owner/name" in done.stderr
    assert [(copy / one).read_text() for one in repository.DOCUMENTS] == before
