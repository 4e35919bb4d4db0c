"""The compiled engine: the loop's rules for a ring or a pairwise exchange on which nodes differ, as machine code."""
