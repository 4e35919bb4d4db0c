"""What somebody can do with peerlab: one folder each, none imports another."""
