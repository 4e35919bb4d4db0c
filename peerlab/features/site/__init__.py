"""The lab in a browser tab: a static site whose pages simulate by themselves, without a kernel and without a server's Python."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="Can I give the lab to others by a link?",
    answers="a folder of static files with the live explorer, or one HTML file",
    commands={"site": "peerlab.features.site.site_command"},
    offers={"live page": "peerlab.features.site.site_folder:write_live_page"},
    functions={"write_site": "peerlab.features.site.site_folder"},
    document="docs/site.md",
)
