"""Pictures: pure functions of a run. Figures are built once; after that only their data changes."""
