"""docs/validation.md is what the simulation says today."""

import subprocess
import sys


def test_the_document_is_what_its_generator_gives(root, tmp_path):
    written = tmp_path / "validation.md"
    subprocess.run(
        [sys.executable, root / "docs" / "write_validation.py", written], check=True, cwd=root, timeout=300
    )
    assert written.read_text() == (root / "docs" / "validation.md").read_text(), "run `make validation`"
