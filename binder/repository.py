"""Write which public repository Binder opens into README.md and docs/launch.md: `make binder REPO=owner/name`.

Between the marks of a document stands the text for a repository, or, without one, how to get there.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_BADGE = "https://mybinder.org/badge_logo.svg"
_UNSET = {
    "README.md": """\
[Binder](https://mybinder.org) opens the tour in a browser, without installing anything:

1. push this repository to GitHub, as a public one;
2. run `make binder REPO=owner/name` with its name, commit and push: here then stands a badge instead of these lines;
3. give students the badge's link.""",
    "docs/launch.md": """\
`make binder REPO=owner/name` writes the address of your public copy on GitHub into README.md and here; give students that link.""",
}
_SET = {
    "README.md": """\
[![Binder]({badge})]({address}) opens the tour in a browser, without installing anything. To give it to students, send them the badge's link.""",
    "docs/launch.md": """\
The link to give to students: <{address}>. `make binder REPO=owner/name` writes another repository into it.""",
}
DOCUMENTS = tuple(_UNSET)
"""What names the repository."""


def address(repository: str) -> str:
    """Return where Binder opens the tour of a repository's default branch in JupyterLab."""
    return f"https://mybinder.org/v2/gh/{repository}/HEAD?urlpath=lab%2Ftree%2Flabs%2F00_tour.ipynb"


def text(document: str, repository: str | None) -> str:
    """Return what stands between a document's marks."""
    if repository is None:
        return _UNSET[document]
    return _SET[document].format(badge=_BADGE, address=address(repository))


def write(root: Path, repository: str | None) -> None:
    """Write a repository into the documents of a folder; None: back to how to get there."""
    for name in DOCUMENTS:
        before = (root / name).read_text(encoding="utf-8")
        start, end = "<!-- binder: written by make binder -->\n", "\n<!-- /binder -->"
        head, _, rest = before.partition(start)
        tail = rest.partition(end)[2]
        (root / name).write_text(f"{head}{start}{text(name, repository)}{end}{tail}", encoding="utf-8")


def main() -> str | None:
    """Return what is wrong with the arguments, or nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", help="owner/name on GitHub; empty: none")
    parser.add_argument("--root", type=Path, default=ROOT, help="another copy of the repository")
    options = parser.parse_args()
    if not _NAME.fullmatch(options.repository):
        return f"REPO must be owner/name, as in make binder REPO=owner/name, not {options.repository!r}"
    write(options.root, options.repository)
    print(f"{' and '.join(DOCUMENTS)} name {options.repository}; commit and push them, then open {address(options.repository)}")  # fmt: skip
    return None


if __name__ == "__main__":
    sys.exit(main())
