"""What axe finds wrong in a page for those who do not see it, or not well."""

from axe_playwright_python.sync_playwright import Axe

GRAVE = ("serious", "critical")


def axe_faults(page, context=None, *, grave=False):
    """Return rule and element of each fault, in the part of a page that a selector names; `grave`: serious and critical ones alone."""
    return [
        (fault["id"], node["html"][:200])
        for fault in Axe().run(page, context=context).response["violations"]
        if not grave or fault["impact"] in GRAVE
        for node in fault["nodes"]
    ]
