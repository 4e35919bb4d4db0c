"""Race: two runs that begin at one moment, played on one clock."""
