"""What everything stands on: units, errors, files, text of a terminal. It knows nothing of collectives."""
