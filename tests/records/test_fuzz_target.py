"""The readers under a fuzzer that watches which lines its inputs reach; it is no part of the test extra."""

import subprocess
import sys
from pathlib import Path

import pytest
from drawing import SOAK
from tool_logs import GOOD, OSU_CRASHED

TARGET = Path(__file__).with_name("fuzz_target.py")
RUNS = 100_000


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="a long trial")
def test_no_input_that_the_fuzzer_finds_crashes_a_reader(tmp_path):
    pytest.importorskip("atheris", reason="pip install atheris, which has wheels for Linux")
    for number, text in enumerate([*GOOD.values(), OSU_CRASHED]):
        (tmp_path / f"seed-{number}").write_text(text)
    limits = (f"-runs={RUNS}", "-max_len=6000", "-timeout=60", "-rss_limit_mb=2048", "-seed=1")
    command = [sys.executable, str(TARGET), str(tmp_path), *limits]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=3600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"Done {RUNS} runs" in done.stderr
