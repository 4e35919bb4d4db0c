"""Which tests run in one process, one after another, and which of these groups begin first."""

TOGETHER = {
    "documents": ("test_documents.py", "study/test_validate.py", "study/test_validate_command.py"),
}
"""Files that simulate the same."""

LONGEST = ("JupyterLab", "Chromium", "documents")
"""Groups that would keep one core busy while the others have nothing left, if they began last; the longest first."""


def group_of(item):
    """Return the group of a test: its file, or what several files share that is slow to start or to simulate."""
    file = item.nodeid.partition("::")[0].removeprefix("tests/")
    if file.startswith("browser/"):
        return "JupyterLab" if "lab" in item.fixturenames else "Chromium"
    return next((name for name, files in TOGETHER.items() if file in files), file)


def rank(item):
    """Return the place of a test's group in the order in which groups begin."""
    group = group_of(item)
    return LONGEST.index(group) if group in LONGEST else len(LONGEST)
