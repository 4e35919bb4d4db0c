"""Scripts with imports and exports become one: in order, complete, and with what is wrong said in words."""

import re
from importlib.resources import files

import pytest

from peerlab import page
from peerlab.page.joining import joined
from peerlab.picture.views import VIEWS


def read(**scripts):
    """Return what reads these scripts."""

    def one(name):
        if name not in scripts:
            raise FileNotFoundError(name)
        return scripts[name]

    return one


def test_what_is_needed_comes_first_and_once_and_the_lines_of_imports_go():
    scripts = read(
        top='// Top.\nimport { a, b } from "./low.js";\nimport { c } from "./middle.js";\n\nexport class Top { x = [a, b, c] }\n',
        middle='import { a } from "./low.js";\nexport const c = a;\n',
        low="/**\n * @typedef {object} Thing\n */\nexport async function a() {}\nexport let b = 1;\n",
    )
    assert joined("top", scripts) == (
        "async function a() {}\nlet b = 1;\n\nconst c = a;\n\n// Top.\n\nclass Top { x = [a, b, c] }\n"
    )


@pytest.mark.parametrize(
    ("scripts", "says"),
    [
        (
            {"top": 'import { a } from "./low.js";\n', "low": "function a() {}\n"},
            "top.js imports a from low.js, which does not export it",
        ),
        ({"top": 'import { a } from "./low.js";\n'}, "top.js imports from low.js, which is not there"),
        (
            {"top": 'import { a } from "./low.js";\nexport const b = 1;\n', "low": "export const a = 1;\nexport function b() {}\n"},
            "b is declared in low.js and again in top.js",
        ),
        (
            {"top": 'import { a } from "./low.js";\nexport const b = 1;\n', "low": 'import { b } from "./top.js";\nexport const a = 1;\n'},
            "top.js and low.js import each other",
        ),
        ({"top": 'import * as low from "./low.js";\n'}, "top.js: 'import \\* as low .*' is no import or export of a form that is understood here"),
        ({"top": "export default 3;\n"}, "top.js: 'export default 3;' is no import or export of a form"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(scripts, says):
    with pytest.raises(ValueError, match=f"^{says}"):
        joined("top", read(**scripts))


def sources(root):
    return {file.stem: file.read_text() for file in sorted((root / "peerlab" / "page").glob("*.js"))}


def test_every_script_imports_what_it_uses_and_uses_what_it_imports(root):
    """In the joined script a forgotten import would not be missed."""
    texts = sources(root) | {"views": "export const VIEWS = {};"}  # written from the list of views
    exported = {
        name: script
        for script, text in texts.items()
        for name in re.findall(r"^export (?:async )?(?:function|class|const|let) (\w+)", text, re.MULTILINE)
    }
    assert len(exported) > 25
    for script, text in texts.items():
        imported = {
            name for names in re.findall(r"^import \{([^}]*)\}", text, re.MULTILINE) for name in re.findall(r"\w+", names)
        }  # fmt: skip
        code = re.sub(
            r'"[^"\n]*"|^import .*|/\*\*.*?\*/|//.*|^ +\w+\([^)]*\) \{$', "", text, flags=re.MULTILINE
        )
        used = {
            name for name, owner in exported.items() if owner != script and re.search(rf"(?:(?<![\w$.])|(?<=\.\.\.)){name}\b(?!:)", code)
        }  # fmt: skip
        assert used == imported, script


def test_every_script_is_in_a_page(root):
    served = (
        page.script(tuple(VIEWS))
        + page.script_of("alone", tuple(VIEWS))
        + page.script_of("race")
        + page.script_of("training")
        + page.script_of("live", tuple(VIEWS))
        + page.script_of("live_worker")
        + page.script_of("lesson_page")
        + page.script_of("ports")
        + page.script_of("jobs")
        + page.script_of("fabrics")
    )
    for script, text in sources(root).items():
        assert text.split("\n", 1)[0] in served, script


def test_a_view_that_is_named_needs_its_script_and_its_class():
    with pytest.raises(ValueError, match=r"^views.js imports from memory.js, which is not there$"):
        page.script_of("page", ("scene", "memory"))
    with pytest.raises(ValueError, match=r"^views.js imports Words from words.js, which does not export it$"):
        page.script_of("page", ("scene", "words"))


def test_a_class_of_a_report_is_styled_by_no_other_sheet_of_the_lab():
    """A notebook holds the explorer and reports: a sheet that styles a class alone styles it in both."""
    explorer, report = (
        re.sub(r"/\*.*?\*/", "", (files(page) / name).read_text(encoding="utf-8"), flags=re.DOTALL)
        for name in ("page.css", "report.css")
    )
    selectors = ",".join(re.findall(r"([^{}]{1,2000})\{", explorer)).split(",")
    alone = {
        match[1]
        for text in selectors
        if (match := re.fullmatch(r"\s*\.([\w-]{1,60})(?:::\w{1,20})?\s*", text))
    }
    assert "pl-ratio-bar" in alone
    assert alone & set(re.findall(r"\.(pl-[\w-]{1,60})", report)) == set()


def test_no_button_has_the_blue_of_registering(root):
    """Blue is what slices, registering and the keyboard's focus have: a button that leads has the ink of words, as in the lab."""
    for sheet in (root / "peerlab/page").glob("*.css"):
        assert not re.search(r"background: *#0072b2", sheet.read_text(encoding="utf-8"), re.IGNORECASE)
