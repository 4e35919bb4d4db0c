"""Writes the trainer's papers: `make course`, into out/course (`make course ARGS="--to folder"`: elsewhere).

slides.html is the course for the room, answers.html one page for the helpers, tasks.html two tasks before and after with a sheet to mark them.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "course")]
import answer_sheet  # noqa: E402
import course_slides  # noqa: E402
import learning_tasks  # noqa: E402

PAPERS: dict[str, Callable[[], str]] = {
    "slides.html": course_slides.html,
    "answers.html": answer_sheet.html,
    "tasks.html": learning_tasks.html,
}


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--to", type=Path, default=HERE.parent / "out" / "course", help="a folder (default: out/course)"
    )
    options = parser.parse_args(words)
    options.to.mkdir(parents=True, exist_ok=True)
    for name, made in PAPERS.items():
        (options.to / name).write_text(made(), encoding="utf-8")
        print(options.to / name)


if __name__ == "__main__":
    main()
