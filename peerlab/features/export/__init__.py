"""Export: pages, stills, videos and traces as files for others."""

from peerlab.base.feature import Feature

FEATURE = Feature(
    asks="How do I show this to somebody without a kernel?",
    answers="a page, a picture, a video or a trace",
    commands={"export": "peerlab.features.export.export_command"},
    functions={
        "export_html": "peerlab.features.export.page",
        "export_still": "peerlab.features.export.pictures",
        "export_video": "peerlab.features.export.video",
    },
    traces={"Run": "peerlab.features.export.perfetto:write_run"},
    offers={
        "page of a run": "peerlab.features.export.page:page_html",
        "video": "peerlab.features.export.video:export_video",
    },
    document="docs/gallery.md",
)
