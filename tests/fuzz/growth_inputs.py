"""Inputs that double: a valid one, a part of it chosen at random, and that part again and again.

Texts and bytes repeat a slice; documents repeat an element of one of their lists or objects, under names of its own, so
that what has to be unique stays so.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from broker.records.batch import Compression
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.records.varint import varint
from tests.produced_batches import batch_of_headers, batch_of_payload

T = TypeVar("T")


@dataclass(frozen=True)
class Pump(Generic[T]):
    """A family of inputs: `of(n)` has the part n times. `word` says which part, for a person."""

    word: str
    of: Callable[[int], T]


def text_pump(seed: str, chance: random.Random) -> Pump[str]:
    """A slice of the seed again and again, as it is, or each time with a number in it."""
    begin = chance.randrange(len(seed))
    end = min(len(seed), begin + chance.choice((1, 1, 2, 3, 5, 10, len(seed))))
    part, separator = seed[begin:end], chance.choice(("", "", ",", ";", "\n"))
    is_numbered = chance.random() < 0.5

    def of(count: int) -> str:
        parts = (f"{part}{number}" if is_numbered else part for number in range(count))
        return seed[:begin] + separator.join(parts) + seed[end:]

    return Pump(f"{part!r} of {seed[:60]!r}, between {separator!r}{', numbered' if is_numbered else ''}", of)


def bytes_pump(seed: bytes, chance: random.Random) -> Pump[bytes]:
    begin = chance.randrange(len(seed))
    end = min(len(seed), begin + chance.choice((1, 2, 4, 8, len(seed))))
    return Pump(
        f"{seed[begin:end]!r} of {seed[:40]!r}", lambda count: seed[:begin] + seed[begin:end] * count + seed[end:]
    )


def packed_pump(part: str) -> Pump[bytes]:
    """A batch of a few KB of zstd that holds one of its parts again and again."""

    def of(count: int) -> bytes:
        match part:
            case "headers of one record":
                return bytes(batch_of_headers(count))
            case "headers of many records":
                return bytes(batch_of_headers(100, records=count // 100))
            case "records":
                return bytes(build_batch([Record(0, 1, None, None)] * (count // 5), compression=Compression.ZSTD))
            case "records of no bytes":
                return bytes(batch_of_payload(bytes(count), count, Compression.ZSTD))
            case "records that the header does not tell of":
                payload = b"".join(b"\x12\0\0" + varint(1_048_576 + index) + b"\1\1\0" for index in range(count // 20))
                return bytes(batch_of_payload(payload, 1, Compression.ZSTD, last_offset_delta=2**31 - 1))
            case _:
                return bytes(batch_of_payload(b"\xff" * count, 1, Compression.ZSTD))

    return Pump(part, of)


PACKED_PARTS = (
    "headers of one record",
    "headers of many records",
    "records",
    "records of no bytes",
    "records that the header does not tell of",
    "bytes of one number",
)


def document_pump(seed: Any, chance: random.Random) -> Pump[Any]:
    """One element of one list or object of the document again and again."""
    places = [(path, value) for path, value in _inside(seed, ()) if value and isinstance(value, dict | list)]
    path, container = chance.choice(places)
    key = chance.choice(sorted(container) if isinstance(container, dict) else range(len(container)))

    def of(count: int) -> Any:
        if isinstance(container, dict):
            grown = container | {f"{key}{number}": _renamed(container[key], number) for number in range(count)}
        else:
            grown = container + [_renamed(container[key], number) for number in range(count)]
        return _replaced(seed, path, grown)

    return Pump(f"{'/'.join(map(str, (*path, key)))} of {str(seed)[:60]}", of)


def _inside(value: Any, path: tuple[str | int, ...]) -> list[tuple[tuple[str | int, ...], Any]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(path, value), *(place for key, member in members for place in _inside(member, (*path, key)))]


def _replaced(value: Any, path: tuple[str | int, ...], by: Any) -> Any:
    if not path:
        return by
    copy = value.copy()
    copy[path[0]] = _replaced(value[path[0]], path[1:], by)
    return copy


#: Members whose values are names that have to be unique among their neighbours.
_NAMES = ("name", "symbol", "$id")


def _renamed(value: Any, number: int) -> Any:
    if isinstance(value, dict):
        return {
            key: f"{member}{number}" if key in _NAMES and isinstance(member, str) else _renamed(member, number)
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [_renamed(member, number) for member in value]
    return f"{value}{number}" if isinstance(value, str) and value[:1].isupper() else value
