"""Reports that a notebook shows as HTML, beside the explorer's pictures: tables and bars that need no script."""
