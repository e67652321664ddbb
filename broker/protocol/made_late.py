"""Arrays of long answers whose elements are made when they are encoded, so that they are never there all at once."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, compress
from typing import Any

#: Fewer are made at once.
_MANY = 100


class MadeLate:
    """What `make` makes of each of `things`, as often as it is asked; how many those are must not change."""

    __slots__ = ("_make", "_things")

    def __init__(self, things: Collection[Any], make: Callable[[Any], Any]):
        self._things = things
        self._make = make

    def __len__(self) -> int:
        return len(self._things)

    def __iter__(self) -> Iterator[Any]:
        return map(self._make, self._things)


class _Joined:
    __slots__ = ("_arrays",)

    def __init__(self, arrays: Collection[Collection[Any]]):
        self._arrays = arrays

    def __len__(self) -> int:
        return sum(map(len, self._arrays))

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self._arrays)


class _Chosen:
    __slots__ = ("_array", "_count", "_is_chosen")

    def __init__(self, array: Collection[Any], is_chosen: Sequence[bool]):
        self._array = array
        self._is_chosen = is_chosen
        self._count = sum(is_chosen)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return compress(self._array, self._is_chosen)


def made_when_encoded(things: Collection[Any], make: Callable[[Any], Any]) -> Any:
    """Return an array whose elements `make` builds while the message is encoded."""
    return MadeLate(things, make)


def made_late(things: Collection[Any], make: Callable[[Any], Any]) -> Any:
    """Return an array of what `make` builds: a list if it is short, else built while the message is encoded."""
    if len(things) > _MANY:
        return MadeLate(things, make)
    return list(map(make, things))


def joined(arrays: Sequence[Collection[Any]]) -> Any:
    """Join several arrays; a short result is a list."""
    array = _Joined(arrays)
    if len(array) > _MANY:
        return array
    return list(array)


def chosen(array: Collection[Any], is_chosen: Sequence[bool]) -> Any:
    """Return the chosen elements of an array: a list if it is short."""
    those = _Chosen(array, is_chosen)
    if len(those) > _MANY:
        return those
    return list(those)
