"""Which tests run in one process, one after another, and which of these groups begin first."""

from xdist.scheduler import LoadScopeScheduling

TOGETHER = {
    "labs": (
        "browser/test_labs_in_browser.py",
        "browser/test_lessons_page.py",
        "browser/test_reruns.py",
    ),
    "explorer": (
        "browser/test_dark.py",
        "browser/test_doctor_page.py",
        "browser/test_explorer.py",
        "browser/test_kernel_gone.py",
        "browser/test_log_and_machine.py",
        "browser/test_tour.py",
    ),
    "words": ("browser/test_export.py", "browser/test_words_apart.py"),
    "slides": ("browser/test_deck_page.py", "browser/test_site_page.py"),
    "documents": (
        "test_documents.py",
        "features/validate/test_law_errors.py",
        "features/validate/test_validate.py",
        "features/validate/test_validate_command.py",
        "features/validate/test_unseen.py",
        "features/expect/test_judging.py",
    ),
    "compiled": ("engine/test_compiled.py", "engine/test_compiled_parts.py"),
    "deck": (
        "features/deck/test_deck.py",
        "features/deck/test_every_kind.py",
        "features/deck/test_training.py",
    ),
}
"""Files that start or simulate the same, and of those with a browser as many as end together; what else drives one is the group Chromium."""

WITH_JUPYTERLAB = ("labs", "explorer")
"""Groups that start a JupyterLab; one alone would take longer than all that is left for the other processor."""

LONGEST = (
    *WITH_JUPYTERLAB,
    *(
        "words",
        "slides",
        "documents",
        "Chromium",
        "test_labs.py",
        "test_style.py",
        "compiled",
        "deck",
    ),
)
"""Groups that would keep one core busy while the others have nothing left, if they began last; the longest first."""


class Groups(LoadScopeScheduling):
    """Hands whole groups to processes. xdist's own way, marks, is ignored by pytest 9.2: it wants each test's id changed."""

    def _split_scope(self, nodeid):
        return group_of(nodeid)


def group_of(nodeid):
    """Return the group of a test: its file, or what several files share that is slow to start or to simulate."""
    file = nodeid.partition("::")[0].removeprefix("tests/")
    other = "Chromium" if file.startswith("browser/") else file
    return next((name for name, files in TOGETHER.items() if file in files), other)


def rank(item):
    """Return the place of a test's group in the order in which groups begin."""
    group = group_of(item.nodeid)
    return LONGEST.index(group) if group in LONGEST else len(LONGEST)
