"""Export: pages, stills, videos and traces as files for others."""
