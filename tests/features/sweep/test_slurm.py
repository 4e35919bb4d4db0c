"""The recipes for Slurm in docs/using.md, run as they stand there, with short lists and Slurm's commands played by plain processes."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

SBATCH = """
import argparse, os, subprocess, sys
parser = argparse.ArgumentParser()
parser.add_argument("--array")
parser.add_argument("--wrap")
asked = parser.parse_args()
for part in asked.array.split(","):
    low, _, high = part.partition("-")
    for task in range(int(low), int(high or low) + 1):
        environment = {**os.environ, "SLURM_ARRAY_TASK_ID": str(task)}
        done = subprocess.run(["sh", "-c", asked.wrap], env=environment, stdout=subprocess.DEVNULL)
        print(f"task {task}: {done.returncode}")
"""
SRUN = """
import os, signal, subprocess, sys
tasks = int(sys.argv[1].removeprefix("--ntasks="))
processes = [subprocess.Popen(sys.argv[2:]) for _ in range(tasks)]
def end(*_):
    for process in processes:
        process.terminate()
signal.signal(signal.SIGTERM, end)
for process in processes:
    process.wait()
"""
LISTS = re.compile(r"(?<=--)(path|nodes|message|window|slice) (\S+)")


@pytest.fixture(scope="module")
def recipes(root):
    """Return the blocks of code: the job array, the merge, the job with Dask."""
    text = (root / "docs" / "using.md").read_text()
    section = text.partition("### 2,000 scenarios on Slurm\n")[2].partition("\n## ")[0]
    return re.findall(r"```bash\n(.*?)```", section, re.DOTALL)


@pytest.fixture
def slurm(tmp_path):
    """Return a function that runs a recipe where there are sbatch and srun."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, script in (("sbatch", SBATCH), ("srun", SRUN)):
        (commands / name).write_text(f"#!{sys.executable}\n{script}")
        (commands / name).chmod(0o755)
    path = os.pathsep.join([str(commands), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "SLURM_JOB_ID": "4711"}

    def run(recipe):
        short = LISTS.sub(lambda found: f"{found[1]} {','.join(found[2].split(',')[:2])}", recipe)
        return subprocess.run(
            ["bash", "-c", short],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def short(recipe):
    """Return a recipe with three shards instead of forty, and three tasks instead of 33."""
    return recipe.replace("1-40", "1-3").replace("/40", "/3").replace("--ntasks=32", "--ntasks=2")


def whole(run, folder):
    """Return what one process writes."""
    done = run("./question.sh --output here.csv")
    assert done.returncode == 0
    return (folder / "here.csv").read_bytes()


def test_the_question_has_so_many_scenarios_as_is_said(recipes):
    assert math.prod(len(found[2].split(",")) for found in LISTS.finditer(recipes[0])) == 2000


@pytest.mark.long("processes")
def test_the_job_array_and_its_merge_give_the_sweep_of_one_process(recipes, slurm, tmp_path):
    array, merge, _ = map(short, recipes)
    done = slurm(array)
    assert (done.returncode, done.stdout) == (0, "task 1: 0\ntask 2: 0\ntask 3: 0\n")
    sizes = [len(pd.read_csv(tmp_path / f"part-{task}.csv")) for task in (1, 2, 3)]
    assert sorted(sizes) == [10, 11, 11]
    (tmp_path / "part-2.csv").unlink()
    done = slurm(merge)
    assert done.returncode == 1
    assert f"{sizes[1]} of 32 rows are missing, of shards 2 of 3; run these again" in done.stderr
    assert not (tmp_path / "sweep.csv").exists()
    sbatch = next(line for line in array.splitlines() if line.startswith("sbatch"))
    assert slurm(sbatch.replace("--array=1-3", "--array=2")).stdout == "task 2: 0\n"
    assert slurm(merge).returncode == 0
    assert (tmp_path / "sweep.csv").read_bytes() == whole(slurm, tmp_path)


@pytest.mark.long("processes")
def test_the_job_with_dask_gives_it_too_and_leaves_no_process_behind(recipes, slurm, tmp_path):
    array, _, job = map(short, recipes)
    assert slurm(array.partition("sbatch")[0]).returncode == 0
    done = slurm(job)
    assert done.returncode == 0, done.stderr
    assert "wire busy" in done.stdout  # and whoever held this pipe has ended
    assert (tmp_path / "sweep.csv").read_bytes() == whole(slurm, tmp_path)
    assert not (tmp_path / "dask-4711.json").exists()  # the scheduler took it away when it ended
