"""Wall chart: one picture of all data paths or of many clusters."""
