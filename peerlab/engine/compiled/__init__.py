"""The compiled engine: the loop's rules for a ring on which nodes differ, as machine code."""
