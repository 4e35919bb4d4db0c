"""Writes the generated documents of this folder: `make docs` all, `make docs ARGS="model api"` some.

A document NAME.md is what `document()` in write_NAME.py returns, and its pictures are what `pictures()` there returns, if it has any, by
name; `parts()` is that for files at the top of which a part is written. A test holds the committed files to it.
"""

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
NAMES = sorted(file.stem.removeprefix("write_") for file in HERE.glob("write_*.py"))


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write the generated documents.")
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--to", type=Path, default=HERE, help="a folder (default: docs)")
    options = parser.parse_args(words)
    for name in options.names or NAMES:
        if name not in NAMES:
            parser.error(f"no document {name!r}; there are {', '.join(NAMES)}")
        module = import_module(f"write_{name}")
        (options.to / f"{name}.md").write_text(module.document(), encoding="utf-8")
        for picture, drawn in getattr(module, "pictures", dict)().items():
            (options.to / "pictures").mkdir(exist_ok=True)
            (options.to / "pictures" / picture).write_text(drawn, encoding="utf-8")
        for file, text in getattr(module, "parts", dict)().items() if options.to == HERE else ():
            (options.to.parent / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
