"""The page that hosts the figures: plain JavaScript and CSS, joined without a build step."""

# A page in a frame handles only the keys that it uses. Any other key goes to the parent as a message, and
# the parent decides what it means: a deck turns slides, ours and others' by the same line (docs/using.md
# has it). Page keys always go to the parent, because a clicker must work wherever somebody clicked before.
#
# What is changed inside BokehJS stands in one script, `page/bokeh_patches.js`, with the reason of each
# change. Nothing that is seen depends on it: `peerlabPatches = false` in the browser, before the page
# begins, turns all of it off, and a test compares the pictures. Each change has a test that counts what it
# spares, with and without; so an update of Bokeh that moves what is changed, or does it better, is noticed.

from functools import cache
from pathlib import Path
from zlib import crc32

from peerlab.page.joining import joined

_HERE = Path(__file__).parent


@cache
def script(views: tuple[str, ...]) -> str:
    """Return the script of the lab's page, one ECMAScript module; `views` are the scripts of its views, in their order.

    Every widget is a module of its own, and a browser forgets no module: so only the first one of a page compiles what is in it.
    """
    code = script_of("lab", views)
    name = f"peerlab {crc32(code.encode()):x}"
    return f'export default (globalThis["{name}"] ??= (() => {{\n{code}\nreturn {{ initialize, render }};\n}})());\n'


@cache
def style(*names: str) -> str:
    """Return style sheets of this folder one after the other: a later one adds to those before it.

    >>> style("training", "ports") == style("training") + style("ports")
    True
    """
    return "".join(_read(f"{name}.css") for name in names)


def script_of(name: str, views: tuple[str, ...] = ()) -> str:
    """Return a script of this folder and all that it imports, joined into one."""
    return joined(name, lambda module: _list(views) if module == "views" else _read(f"{module}.js"))


def _list(views: tuple[str, ...]) -> str:
    """Return the script that lists the views: `timeline.js` exports a class `Timeline`."""
    imports = "".join(f'import {{ {name.capitalize()} }} from "./{name}.js";\n' for name in views)
    return f"{imports}export const VIEWS = {{ {', '.join(f'{name}: {name.capitalize()}' for name in views)} }};\n"


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
