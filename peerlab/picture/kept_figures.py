"""Where the empty figures of the explorer are kept, as Bokeh built them: `bokeh_document` reads it, `plots.built_document` writes it."""

from pathlib import Path

KEPT = Path(__file__).with_name("figures.json")
