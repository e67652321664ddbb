"""How much is tried: the gate takes a quarter of the examples, rounds and looks that `make test-all` takes."""

import itertools
import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")


def is_full() -> bool:
    return settings.get_current_profile_name() == "full"


def examples(full: int) -> int:
    return full if is_full() else max(1, full // 4)


def some(places: Iterable[T], one_in: int = 5) -> Iterable[T]:
    """Of the steps at which something may die, the bytes where something may tear, the addresses that are asked: every
    fifth, or one in so many; all in the full run.
    """
    return places if is_full() else itertools.islice(places, 0, None, one_in)


def newest_of(cases: Iterable[T], name: Callable[[T], str]) -> list[T]:
    """Of cases whose names end with an API and its version, each API in its newest; all in the full run."""
    if is_full():
        return list(cases)
    return list({re.sub(r"[ -]\d+]$", "", name(case)): case for case in cases}.values())
