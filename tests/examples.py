"""How much is tried: the gate takes a quarter of the examples, rounds and looks that `make test-all` takes."""

import itertools
from collections.abc import Iterable

from hypothesis import settings


def is_full() -> bool:
    return settings.get_current_profile_name() == "full"


def examples(full: int) -> int:
    return full if is_full() else max(1, full // 4)


def some(places: Iterable[int]) -> Iterable[int]:
    """Of the steps at which something may die, the bytes where something may tear: every fifth, all in the full run."""
    return places if is_full() else itertools.islice(places, 0, None, 5)
