"""Docstrings and signatures as Markdown: read from the source, so that every Python gives the same."""

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from documents import table

_SECTION = re.compile(r"^(Parameters|Attributes|Returns|Raises)\n-+\n", re.MULTILINE)
_DELEGATES = re.compile(r"see :func:`([\w.]+)`\.")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def resolved(thing: Any) -> Any:
    """Return the function that a public name of one line hands its work to, else itself."""
    found = _DELEGATES.search(inspect.getdoc(thing) or "")
    if not found or len(inspect.signature(thing).parameters) == 0:
        return thing
    module, _, name = found[1].rpartition(".")
    return getattr(import_module(module), name)


def tree(thing: Any) -> Any:
    """Return the definition of a function or a class."""
    return ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]


def signature(name: str, node: Function, made: Callable[..., Any], *, bound: bool = False) -> str:
    """Return a call as Python, one argument a line where it is long; without `self` if it is `bound`.

    Annotations are as written in the source, defaults as they are when it runs.
    """
    given = node.args
    defaults = {one.name: one.default for one in inspect.signature(made).parameters.values()}
    parts = [_argument(one, defaults) for one in (*given.posonlyargs, *given.args)][bound:]
    if given.vararg:
        parts.append("*" + _argument(given.vararg, {}))
    elif given.kwonlyargs:
        parts.append("*")
    parts += [_argument(one, defaults) for one in given.kwonlyargs]
    if given.kwarg:
        parts.append("**" + _argument(given.kwarg, {}))
    returns = f" -> {_type(node.returns)}" if node.returns else ""
    line = f"{name}({', '.join(parts)}){returns}"
    if len(line) <= 100:
        return line
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){returns}"


def _argument(one: ast.arg, defaults: Mapping[str, Any]) -> str:
    text = one.arg + (f": {_type(one.annotation)}" if one.annotation else "")
    default = defaults.get(one.arg, inspect.Parameter.empty)
    if default is inspect.Parameter.empty:
        return text
    return f"{text}{' = ' if one.annotation else '='}{_value(default)}"


def _value(default: Any) -> str:
    """Return a default as Python; of what has no such form an ellipsis."""
    text = repr(default)
    return "..." if text.startswith("<") or default is ... else text


def _type(node: ast.expr) -> str:
    """Return an annotation; names that are written as text lose their quotes."""
    text = ast.unparse(node)
    return text if "Literal" in text else text.replace("'", "")


def described(doc: str | None) -> str:
    """Return a docstring in the numpy convention as Markdown."""
    if not doc:
        return ""
    head, *sections = _SECTION.split(inspect.cleandoc(doc))
    parts = [_prose(head)]
    for name, body in zip(sections[::2], sections[1::2], strict=True):
        parts.append(f"*{name}*\n\n{_prose(body) if name == 'Returns' else _entries(body)}")
    return "\n".join(parts)


def _entries(body: str) -> str:
    """Return entries, each a name with indented text below, as a list; examples that follow as they are."""
    entries, _, example = body.partition("\n>>>")
    items = re.findall(r"^(\S.*?):?\n((?:[ \t]+.*\n?|\n)*)", entries.strip() + "\n", re.MULTILINE)
    listed = "".join(f"* `{name}`: {inline(' '.join(text.split()))}\n" for name, text in items)
    return listed + (f"\n{_prose('>>>' + example)}" if example else "")


def _prose(text: str) -> str:
    """Return paragraphs, with examples and indented blocks fenced."""
    out: list[str] = []
    for block in re.split(r"\n\s*\n", text.strip()):
        if block.startswith(">>>"):
            out.append(f"```pycon\n{block}\n```\n")
        elif re.match(r" {4}", block):
            out.append(f"```\n{textwrap.dedent(block)}\n```\n")
        else:
            out.append(inline(block) + "\n")
    return "\n".join(out)


def inline(text: str) -> str:
    """Return text whose roles and double backticks are Markdown's."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text.replace("``", "`"))
    return re.sub(r"::$", ":", text)


def members(cls: type) -> Iterator[tuple[str, Function, type]]:
    """Yield the public functions of a class of ours and of its bases of ours, each name once."""
    seen: set[str] = set()
    for one in (c for c in cls.__mro__ if c.__module__.startswith("peerlab")):
        for node in tree(one).body:
            public = isinstance(node, Function) and not node.name.startswith("_")
            if public and node.name not in seen:
                seen.add(node.name)
                yield node.name, node, one


def is_property(node: Function) -> bool:
    """Tell whether a function is read like a field."""
    return any(ast.unparse(one) in ("property", "cached_property") for one in node.decorator_list)


def fields_table(cls: type) -> str:
    """Return the public fields and properties of a class as a table; empty if it has none."""
    rows = []
    for one in reversed([c for c in cls.__mro__ if c.__module__.startswith("peerlab")]):
        body = tree(one).body
        for node, after in zip(body, [*body[1:], None], strict=True):
            named = isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
            if named and not node.target.id.startswith("_"):
                rows.append(_field(cls, node, after))
    rows += [
        (f"`{name}`", _kind(node.returns), "", _summary(ast.get_docstring(node)))
        for name, node, _ in members(cls)
        if is_property(node) and node.returns
    ]
    return table(("field", "type", "default", "what"), rows) if rows else ""


def _field(cls: type, node: ast.AnnAssign, after: Any) -> tuple[str, ...]:
    doc = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
    name = ast.unparse(node.target)
    known = (
        {one.name: one.default for one in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else {}
    )
    default = known.get(name, dataclasses.MISSING)
    read = isinstance(node.value, ast.Call)  # what a field() says is for the code
    shown = "" if default is dataclasses.MISSING or read else f"`{_value(default)}`"
    return f"`{name}`", _kind(node.annotation), shown, _summary(doc)


def _kind(node: ast.expr) -> str:
    return f"`{_type(node).replace(' | ', ' or ')}`"


def _summary(doc: str | None) -> str:
    return inline(" ".join((doc or "").split()))


def functions(cls: type) -> Iterator[tuple[str, str, str]]:
    """Yield the public methods of a class: name, how it is called, what its docstring says."""
    for name, node, _ in members(cls):
        if is_property(node):
            continue
        made = any(ast.unparse(one) in ("classmethod", "staticmethod") for one in node.decorator_list)
        owner = cls.__name__ if made else "."
        call = f"{owner}.{name}" if made else f".{name}"
        yield (
            f"{cls.__name__}.{name}",
            signature(call, node, getattr(cls, name), bound=True),
            described(ast.get_docstring(node)),
        )


def called(name: str, thing: Callable[..., Any]) -> str:
    """Return how a function is called."""
    return signature(name, tree(thing), thing)
