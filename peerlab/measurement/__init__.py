"""A real AllReduce on this machine, over several data paths, in processes of its own."""
