"""Random numbers as numpy draws them, bit for bit, in Python alone: for a browser tab, where numpy is not.

The same seed has to give the same noise in a tab as in a notebook, or a link would show another run than the one that was sent. So this
is numpy's `default_rng`: its seeding, its generator (PCG64), and of its distributions those that noise draws from. `tests/
test_random_streams.py` holds each to numpy's own numbers. `peerlab.base.whole_numbers.streams` gives them numpy's names.
"""
