"""What Binder would do with this repository: repo2docker's own plan, and the badge."""

import re
import subprocess
import sys
from urllib.parse import parse_qs, urlparse

import yaml


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


def test_the_badge_opens_the_tour_in_jupyterlab(root):
    lines = (root / "README.md").read_text().rstrip().splitlines()
    found = re.fullmatch(r"\[binder\]: (\S+)", lines[-1])  # the one line that a fork's owner changes
    address = urlparse(found[1])
    assert (address.hostname, address.path.split("/")[1:3]) == ("mybinder.org", ["v2", "gh"])
    lab, tree, *path = parse_qs(address.query)["urlpath"][0].split("/")
    assert (lab, tree) == ("lab", "tree")
    assert root.joinpath(*path).name == "00_tour.ipynb"
    assert root.joinpath(*path).exists()
