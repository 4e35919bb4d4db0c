"""Scripts that say with ``import`` and ``export`` what they need and give, joined into one.

Each begins with lines such as ``import { make } from "./dom.js";``. In the joined script all stand in one scope, those that
are needed first. Lines of imports and the word ``export`` go, because what they say is checked here; so do comments that
hold types, because only readers of the sources need them.
"""

# Plain JavaScript, joined when served. Scripts say with `import` and `export` what they need and give.
# `page/joining.py` puts them into one script, those that are needed first, and drops these lines: a widget
# is one module, and the policy of an exported page allows one script by its hash. An unknown name, a name
# declared twice and scripts that import each other are errors in words. No build step, nothing vendored.

import re
from collections.abc import Callable

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+)\.js";\n', re.MULTILINE)
_DECLARED = re.compile(r"^(export )?(?:async )?(?:function|class|const|let) (\w+)", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) \w)", re.MULTILINE)
_TYPES = re.compile(r"^/\*\*.*?\*/\n", re.MULTILINE | re.DOTALL)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)

Read = Callable[[str], str]
"""Returns the text of a script by its name."""


def joined(entry: str, read: Read) -> str:
    """Return a script and all that it imports as one script in one scope, without imports and exports.

    Raises
    ------
    ValueError
        If a script imports a name that is not exported, one that is not there, or one that imports it in turn; if a name
        is declared twice; or if a line begins with ``import`` or ``export`` and is of another form.
    """
    scripts = _Scripts(read)
    scripts.add(entry, ())
    return "\n".join(scripts.plain.values())


class _Scripts:
    """The scripts that are joined, in their order."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._exports: dict[str, set[str]] = {}
        self._owners: dict[str, str] = {}
        self.plain: dict[str, str] = {}

    def add(self, name: str, above: tuple[str, ...]) -> None:
        """Add what a script imports, then itself; `above` are those that import it."""
        if name in self.plain:
            return
        if name in above:
            raise ValueError(f"{name}.js and {above[-1]}.js import each other")
        try:
            text = self._read(name)
        except FileNotFoundError:
            raise ValueError(f"{above[-1]}.js imports from {name}.js, which is not there") from None
        for names, other in _IMPORT.findall(text):
            self.add(other, (*above, name))
            self._check_imports(name, other, re.findall(r"\w+", names))
        self._declare(name, text)
        self.plain[name] = _plain(name, text)

    def _check_imports(self, name: str, other: str, wanted: list[str]) -> None:
        for symbol in wanted:
            if symbol not in self._exports[other]:
                raise ValueError(f"{name}.js imports {symbol} from {other}.js, which does not export it")

    def _declare(self, name: str, text: str) -> None:
        declared = _DECLARED.findall(text)
        for _, symbol in declared:
            if symbol in self._owners:
                raise ValueError(f"{symbol} is declared in {self._owners[symbol]}.js and again in {name}.js")
            self._owners[symbol] = name
        self._exports[name] = {symbol for export, symbol in declared if export}


def _plain(name: str, text: str) -> str:
    plain = _TYPES.sub("", _EXPORT.sub("", _IMPORT.sub("", text)))
    if left := _OTHER.search(plain):
        raise ValueError(f"{name}.js: {left[0]!r} is no import or export of a form that is understood here")
    return plain.strip("\n") + "\n"
