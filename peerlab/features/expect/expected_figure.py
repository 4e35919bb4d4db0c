"""A bandwidth as tables, pictures and files of an expectation write it."""


def figure(GBps: float) -> str:  # noqa: N803
    """Return a bandwidth in three digits, or in all before its point.

    >>> figure(0.000115), figure(342.66), figure(1736.4)
    ('0.000115', '343', '1736')
    """
    return f"{GBps:.0f}" if GBps >= 1000 else f"{GBps:.3g}"
