"""docs/diagnosis.md is what `peerlab diagnose` says today."""

import subprocess
import sys


def test_the_document_is_what_its_generator_gives(root, tmp_path):
    written = tmp_path / "diagnosis.md"
    subprocess.run(
        [sys.executable, root / "docs" / "write_diagnosis.py", written], check=True, cwd=root, timeout=300
    )
    assert written.read_text() == (root / "docs" / "diagnosis.md").read_text(), "run `make diagnosis`"
