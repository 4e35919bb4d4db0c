"""Can this host do peer direct? Every check says what it read, why it matters and how to mend it."""
