"""docs/doctor.md is what the checks say today."""

import subprocess
import sys

from peerlab.examination import CHECKS


def test_the_document_is_what_its_generator_gives(root, tmp_path):
    written = tmp_path / "doctor.md"
    subprocess.run(
        [sys.executable, root / "docs" / "write_doctor.py", written], check=True, cwd=root, timeout=60
    )
    assert written.read_text() == (root / "docs" / "doctor.md").read_text(), "run `make checks`"
    assert [check.id for check in CHECKS if f"(`{check.id}`)" not in written.read_text()] == []
