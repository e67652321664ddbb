"""The order in which a person puts names: m2 before m10."""

import re

_DIGITS = re.compile(r"([0-9]+)")


def natural_order(name: str) -> tuple[tuple[object, ...], str]:
    """A key to sort by: numbers within a name count as such, of whatever length, and come before words."""
    pieces = _DIGITS.split(name)
    pieces[1::2] = [each.lstrip("0") for each in pieces[1::2]]
    return tuple((len(each), each) if place % 2 else each for place, each in enumerate(pieces)), name
