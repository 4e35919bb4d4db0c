"""Units: text and floats become whole picoseconds and bytes, and these become words. The only place with conversion factors.

Inside, time is integer picoseconds and data is integer bytes, so that two engines can be compared with ``==``.
Text and floats exist at the edges only; there the unit is in the name (``_s``, ``_us``, ``_bytes``, ``_GBps``;
GB is 10**9 bytes, rates are per direction).
"""

# Integers inside. Time is whole picoseconds, sizes are whole bytes; text and floats are converted where
# they enter. So the spans of two engines can be compared with `==`, and they are, over scenarios that
# hypothesis makes.

import re
from decimal import Decimal
from fractions import Fraction

PS_PER_S = 10**12
PS_PER_US = 10**6
PS_PER_MS = 10**9
KIB, MIB, GIB = 2**10, 2**20, 2**30

_SIZES = {"b": 1, "byte": 1, "bytes": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_SIZES |= {"kib": KIB, "mib": MIB, "gib": GIB, "tib": 2**40}
_BITS = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9, "tbit": 10**12}
_TIMES_PS = {"ps": 1, "ns": 10**3, "us": PS_PER_US, "µs": PS_PER_US, "ms": PS_PER_MS, "s": PS_PER_S}
_BITS_IN_DISGUISE = re.compile("[KMGT]i?b")  # "Mb" is megabits; "mb" in small letters is taken for megabytes
_QUANTITY = re.compile(r"([+-]?[0-9][0-9_]*(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,2})?|[+-]?\.[0-9]+)\s*([^\s\d].*)?")


def _split(text: str) -> tuple[Fraction, str]:
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a number with a unit")
    # exact: 0.1 GB is a hundred million bytes, while the float 0.1 is a little more than a tenth
    return Fraction(match[1].replace("_", "")), match[2] or ""


def parse_bytes(value: int | str) -> int:
    """Return a size in bytes from an integer or text such as ``"64 MiB"``, ``"1.5 GB"``, ``"4096"``.

    Raises
    ------
    ValueError
        With a sentence that says what was wrong: a rate, bits, an unknown unit, a fraction of a byte.

    >>> parse_bytes("64 MiB"), parse_bytes("64 MB")
    (67108864, 64000000)
    """
    if isinstance(value, str):
        number, unit = _split(value)
        # before the unit is looked up, so that "Gbps" is told to be a rate and not an unknown unit
        if "/" in unit or unit.lower().endswith("ps"):
            raise ValueError(f"{value!r} is a rate; a size looks like '64 MiB' or '64 MB'")
        if unit.lower() in _BITS or _BITS_IN_DISGUISE.fullmatch(unit):
            raise ValueError(f"{value!r} is in bits; a size is in bytes, such as '64 MiB' or '64 MB'")
        factor = _SIZES.get(unit.lower(), None if unit else 1)
        if factor is None:
            raise ValueError(f"unit {unit!r} in {value!r} is unknown; a size looks like '64 MiB' or '64 MB'")
        size = number * factor
    elif isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueError(f"{value!r} is not a whole number of bytes; a size looks like 67108864 or '64 MiB'")
    else:
        size = Fraction(value.__index__())
    if size.denominator != 1:
        raise ValueError(f"{value!r} is not a whole number of bytes")
    return int(size)


def parse_rate(value: float, unit: str) -> int:
    """Return bytes per second from a value in ``GB/s``, ``MB/s``, ``Gbit/s``, ...

    >>> parse_rate(100, "Gbit/s")
    12500000000
    """
    head, slash, per = unit.partition("/")
    factor = Fraction(_BITS[head.lower()], 8) if head.lower() in _BITS else _SIZES.get(head.lower())
    if factor is None or not slash or per != "s":
        raise ValueError(f"unit {unit!r} is not a rate such as 'GB/s' or 'Gbit/s'")
    # as text, so that 12.5 and 14.1 are what the file says
    return round(Fraction(str(value)) * factor)


def parse_duration(value: float, unit: str) -> int:
    """Return picoseconds from a value in ``ns``, ``us``, ``ms`` or ``s``.

    >>> parse_duration(5, "us")
    5000000
    """
    if unit not in _TIMES_PS:
        raise ValueError(f"unit {unit!r} is not a time such as 'us' or 'ns'")
    return round(Fraction(str(value)) * _TIMES_PS[unit])


def parse_time(text: str) -> float:
    """Return seconds from text such as ``"0.35"`` or ``"350 ms"``.

    Raises
    ------
    ValueError
        If it is no number, or its unit is none of time.

    >>> parse_time("0.35"), parse_time("350 ms")
    (0.35, 0.35)
    """
    number, unit = _split(text)
    return seconds(parse_duration(float(number), unit or "s"))


def service_ps(nbytes: int, rate_Bps: int) -> int:  # noqa: N803  (the field writes B for bytes)
    """Return the picoseconds that `nbytes` occupy a resource of `rate_Bps` bytes per second, rounded up.

    Rounding up keeps every service at 1 ps or more, which the engines' order of events relies on.
    """
    return -(-nbytes * PS_PER_S // rate_Bps)


def seconds(ps: int) -> float:
    """Return picoseconds as seconds."""
    return ps / PS_PER_S


def gigabytes_per_second(nbytes: float, ps: int) -> float:
    """Return ``nbytes / ps`` in GB/s (10**9 bytes per second)."""
    return nbytes * PS_PER_S / ps / 1e9


def _scaled(value: float, steps: list[tuple[float, str]]) -> str:
    # a little below a unit counts as one of it: 999.6 us would read as 1e+03
    factor, unit = next((step for step in steps if abs(value) >= step[0] * 0.9995), steps[-1])
    scaled = value / factor
    return f"{scaled:.3g} {unit}" if abs(scaled) < 999.5 else f"{scaled:.0f} {unit}"


def say_time(ps: float) -> str:
    """Return a time for people.

    >>> say_time(16_700_000_000), say_time(50_000), say_time(0)
    ('16.7 ms', '50 ns', '0 s')
    """
    if ps == 0:
        return "0 s"
    return _scaled(ps, [(PS_PER_S, "s"), (PS_PER_MS, "ms"), (PS_PER_US, "µs"), (1000, "ns"), (1, "ps")])


def say_share(share: float) -> str:
    """Return a share, 0 to 1, for people; only nothing is 0 %, and only all is 100 %.

    >>> say_share(0.4), say_share(0.004), say_share(0.9999), say_share(1)
    ('40 %', '0.4 %', 'over 99 %', '100 %')
    """
    if 0 < share < 0.005:
        return f"{100 * share:.2g} %"
    return "over 99 %" if 0.995 <= share < 1 else say_percent(share)


def say_percent(share: float, digits: int = 0, *, sign: bool = False) -> str:
    """Return a share in percent, rounded to `digits` behind the point, as units are written: with a space before the sign.

    >>> say_percent(0.69), say_percent(0.0038, 1), say_percent(0.2, sign=True)
    ('69 %', '0.4 %', '+20 %')
    """
    return f"{share:{'+' if sign else ''}.{digits}%}".replace("%", " %")


def say_range(low: float, high: float, digits: int = 2) -> str:
    """Return from where to where a figure lies, with `digits` behind the point; once where both ends read the same.

    >>> say_range(1.324, 1.861), say_range(1.001, 1.004)
    ('1.32 to 1.86', '1.00')
    """
    return " to ".join(dict.fromkeys(f"{end:.{digits}f}" for end in (low, high)))


def say_digits(value: float, digits: int = 3) -> str:
    """Return a figure with so many significant digits, zeros among them; what has more before its point keeps them.

    >>> say_digits(3.1), say_digits(9.996), say_digits(10.85, 2), say_digits(1736.4)
    ('3.10', '10.0', '11', '1736')
    """
    first = Decimal(f"{value:.{digits - 1}e}").adjusted()
    return f"{value:.{max(0, digits - 1 - first)}f}"


_TENTH, _TEN = 0.1, 10
"""Between them a gain has digits behind its point; from the second on its ends have two digits: a range that is so wide denies more."""


TIMES_SIGN = "\N{MULTIPLICATION SIGN}"
"""Behind a factor, wherever it is drawn or stands on a page: 1.72 and this sign."""


def say_gain(low: float, high: float, digits: int = 2, sign: str = TIMES_SIGN) -> str:
    """Return from where to where a gain lies; wherever the range of a gain is written, it has these digits.

    >>> say_gain(1.16, 2.114, sign=" times"), say_gain(10.86, 29.76, sign=" times")
    ('1.16 to 2.11 times', '11 to 30 times')
    """
    if _TENTH <= high < _TEN:
        return say_range(low, high, digits) + sign
    return " to ".join(dict.fromkeys(say_digits(end, 2 if high >= _TEN else 3) for end in (low, high))) + sign


_TIMES = re.compile(r"(?<=\d) times\b(?! as)")


def with_signs(words: str) -> str:
    """Return words in which each factor has its sign in the place of *times*, as pages write it.

    >>> with_signs("1.16 to 2.11 times if the library is NCCL") == f"1.16 to 2.11{TIMES_SIGN} if the library is NCCL"
    True
    """
    return _TIMES.sub(TIMES_SIGN, words)


def three_digits(value: float) -> str:
    """Return a figure as it stands below others: with three digits, zeros behind the point included.

    >>> three_digits(51.96), three_digits(338.2), three_digits(4.1)
    ('52.0', '338', '4.10')
    """
    return f"{value:#.3g}".removesuffix(".")


def say_unit(unit: str) -> str:
    """Return a unit as it stands in tables: a space before it, nothing for a count, one sign for microseconds.

    >>> say_unit("us"), say_unit("GB/s"), say_unit("1")
    (' µs', ' GB/s', '')
    """
    return "" if unit == "1" else " " + {"us": "µs"}.get(unit, unit)


def say_bytes(nbytes: float) -> str:
    """Return a size for people, in binary units.

    >>> say_bytes(268435456), say_bytes(1000)
    ('256 MiB', '1000 B')
    """
    return _scaled(nbytes, [(GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"), (1, "B")])


def say_count(count: int, what: str) -> str:
    """Return a count for people.

    >>> say_count(1, "node"), say_count(8, "switch"), say_count(0, "NIC")
    ('1 node', '8 switches', 'no NIC')
    """
    if count <= 1:
        return f"{count or 'no'} {what}"
    return f"{count} {what}{'es' if what.endswith(('s', 'ch')) else 's'}"


def write_bytes(nbytes: int) -> str:
    """Return a size that :func:`parse_bytes` reads back exactly, as shortly as possible.

    >>> write_bytes(67108864), write_bytes(100_000_000), write_bytes(12_345)
    ('64 MiB', '100 MB', '12345')
    """
    units = {"GiB": GIB, "MiB": MIB, "KiB": KIB, "GB": 10**9, "MB": 10**6, "kB": 10**3}
    exact = [
        f"{nbytes / size:.12g} {unit}"
        for unit, size in units.items()
        # quarters of a unit at most, so that the text is short and exact
        if nbytes >= size and nbytes * 4 % size == 0
    ]
    return min(exact, key=len) if exact else str(nbytes)
