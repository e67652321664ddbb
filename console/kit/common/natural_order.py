"""The order in which a person puts names: m2 before m10."""

import re

_DIGITS = re.compile(r"([0-9]+)")


def natural_order(name: str) -> tuple[tuple[object, ...], str]:
    """Return a key to sort by: numbers within a name count as such, of whatever length, and come before words."""
    pieces = _DIGITS.split(name)
    pieces[1::2] = [piece.lstrip("0") for piece in pieces[1::2]]
    return tuple((len(piece), piece) if place % 2 else piece for place, piece in enumerate(pieces)), name
