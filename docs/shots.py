"""Takes the pictures of README and docs from the real thing, and prints the handout.

`make shots` takes all, `make shots ARGS="files handout"` some. They are written with at most 256 colours, which is what
makes them small and is not to be seen.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "shooting"), str(HERE.parent / "tests" / "browser"), str(HERE.parent / "tests")]
import explorer  # noqa: E402  (tests are not a package)
import files  # noqa: E402
import handout  # noqa: E402
import loop  # noqa: E402
import notebooks  # noqa: E402

from peerlab.picture.theme import palettes  # noqa: E402

GROUPS: dict[str, Callable[[Path], None]] = {
    "explorer-1280": partial(explorer.take, width=1280, height=1000),
    "explorer-1920": partial(explorer.take, width=1920, height=1080),
    "slide": explorer.slide,
    "notebooks": notebooks.take,
    "files": files.take,
    "loop": loop.take,
    "handout": handout.take,
}
"""Each takes a folder and writes pictures into it."""
Colour = tuple[int, int, int]
_COARSE = 4
"""Levels by which a colour may miss one of ours."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="group", help=f"of {', '.join(GROUPS)}; none: all")
    parser.add_argument(
        "--to", type=Path, default=HERE / "pictures", help="a folder (default: docs/pictures)"
    )
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    for name in options.groups or GROUPS:
        if name not in GROUPS:
            parser.error(f"unknown group {name!r}; known: {', '.join(GROUPS)}")
        with tempfile.TemporaryDirectory() as raw:
            GROUPS[name](Path(raw))
            for picture in sorted(Path(raw).glob("*.png")):
                keep(picture, options.to / picture.name)
            for film in sorted(Path(raw).glob("*.webp")):
                target = options.to / film.name
                shutil.copyfile(film, target)
                print(f"{target}: {target.stat().st_size / 1000:.0f} kB")


def keep(picture: Path, target: Path) -> None:
    """Write a picture with the theme's colours and those that it mostly has besides; no dither, which would blur letters."""
    ours = sorted({rgb(colour) for of in palettes().values() for colour in of.values()})
    with Image.open(picture) as one:
        full = one.convert("RGB")
    most = full.quantize(256 - len(ours), method=Image.Quantize.MEDIANCUT).getpalette() or []
    colours = Image.new("P", (1, 1))
    colours.putpalette([part for colour in ours for part in colour] + most)
    few = full.quantize(palette=colours, dither=Image.Dither.NONE)
    exact(few, ours)
    few.save(target, optimize=True)
    print(f"{target}: {target.stat().st_size / 1000:.0f} kB")


def exact(picture: Image.Image, ours: Sequence[Colour]) -> None:
    """Let what is hardly off one of our colours be that colour: finding the nearest is coarse by some levels."""
    found = picture.getpalette() or []
    entries = [tuple(found[place : place + 3]) for place in range(0, len(found), 3)]
    near = [
        next((own for own in ours if max(abs(a - b) for a, b in zip(one, own, strict=True)) <= _COARSE), one)
        for one in entries
    ]
    picture.putpalette([part for colour in near for part in colour])


def rgb(colour: str) -> Colour:
    """Return red, green and blue of ``#RRGGBB``."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


if __name__ == "__main__":
    main()
