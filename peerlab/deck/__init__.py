"""Slides: an architecture review of host NIC against Peer Direct, from simulations, as one page that needs no network."""
