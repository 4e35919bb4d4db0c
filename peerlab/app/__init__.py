"""The live lab in a notebook: controls (ipywidgets) above one page that hosts the figures."""
