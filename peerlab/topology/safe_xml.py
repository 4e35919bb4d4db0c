"""XML from anywhere, read without what makes it dangerous: no entities, nothing fetched, bounded depth and number of elements."""

from dataclasses import dataclass, field
from xml.parsers import expat

from peerlab.base.errors import HardwareError

_MOST_ELEMENTS, _DEEPEST = 100_000, 200


@dataclass
class Element:
    """One element."""

    tag: str
    attributes: dict[str, str]
    children: list["Element"] = field(default_factory=list)

    def get(self, name: str) -> str:
        """Return an attribute; empty if there is none."""
        return self.attributes.get(name, "")


def read_xml(data: bytes) -> Element:
    """Return the root element.

    Raises
    ------
    HardwareError
        If it is no XML, or has entities, too many elements or too many levels.
    """
    top = Element("", {})
    stack, count = [top], 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > _MOST_ELEMENTS or len(stack) > _DEEPEST:
            raise HardwareError("it has more elements, or more levels, than any machine")
        stack.append(Element(tag, attributes))
        stack[-2].children.append(stack[-1])

    def entity(*_: object) -> None:
        raise HardwareError("it declares entities, which no topology needs")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, lambda _: stack.pop()
    # a few entities of entities unfold to gigabytes, so their declaration is refused, not their use
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(data, True)
    except HardwareError:
        raise
    except expat.ExpatError as problem:
        raise HardwareError(f"it is no whole XML: {problem}") from None
    except (
        LookupError,
        ValueError,
        TypeError,
        ArithmeticError,
    ):  # of Python's codecs, of which few are of XML
        raise HardwareError("it is in an encoding that XML is not read in here; write it in UTF-8") from None
    # expat takes no document without a root
    return top.children[0]
