"""What measurements say, in a notebook and as a document."""
